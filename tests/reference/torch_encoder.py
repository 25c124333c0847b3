"""torch_encoder.py: the encoder classifier in PyTorch's own modules, under the parameter names of our checkpoints.

Shared by make_encoders.py (reference values) and check_checkpoint.py (loads a checkpoint). Written for PyTorch 1.13 and
up. Sequences are run one by one, so no padding enters; `padded_logits` is the other way, with a padding mask, and must
give the same.
"""
import math

import torch
from torch import nn


def sinusoidal_positions(length, d_model):
    """PE(p, 2i) = sin(p / 10000^(2i/D)), PE(p, 2i+1) = cos(the same); an odd D drops the last cosine."""
    table = torch.empty(length, d_model, dtype=torch.float64)
    for p in range(length):
        for j in range(d_model):
            angle = p / math.pow(10000.0, (j - j % 2) / d_model)
            table[p, j] = math.cos(angle) if j % 2 else math.sin(angle)
    return table


class Encoder(nn.Module):
    """Embedding + positions -> nn.TransformerEncoder -> pooling -> nn.Linear. `config` holds our config's model keys,
    and vocab, classes, max_length (rows of the learned position table)."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        d_model = config["d_model"]
        self.embedding = nn.Embedding(config["vocab"], d_model)
        if config["positions"] == "learned":
            self.position = nn.Embedding(config["max_length"], d_model)
        pre_norm = config["norm_position"] == "pre"

        def layer():
            return nn.TransformerEncoderLayer(
                d_model, config["heads"], config["d_ff"], dropout=0.0, activation=config["activation"],
                layer_norm_eps=config["norm_eps"], batch_first=True, norm_first=pre_norm)

        norm = nn.LayerNorm(d_model, eps=config["norm_eps"]) if pre_norm else None
        self.encoder = nn.TransformerEncoder(layer(), 1, norm)
        # fresh layers: nn.TransformerEncoder's own are copies of one
        self.encoder.layers = nn.ModuleList([layer() for _ in range(config["layers"])])
        self.encoder.num_layers = config["layers"]
        self.classifier = nn.Linear((2 if config["pooling"] == "mean_max" else 1) * d_model, config["classes"])

    def encode(self, tokens, padding=None):
        """tokens (S,T), padding (S,T) true where there is no token -> encoder output (S,T,D)."""
        n_tokens = tokens.shape[1]
        x = self.embedding(tokens)
        if self.config["embedding_scale"] == "sqrt":
            x = x * math.sqrt(self.config["d_model"])
        if self.config["positions"] == "sinusoidal":
            x = x + sinusoidal_positions(n_tokens, self.config["d_model"]).to(x.dtype)
        elif self.config["positions"] == "learned":
            x = x + self.position.weight[:n_tokens]
        if self.config["layers"] == 0:  # nn.TransformerEncoder.forward wants at least one layer
            return x if self.encoder.norm is None else self.encoder.norm(x)
        mask = None
        if self.config["causal"]:
            mask = torch.triu(torch.full((n_tokens, n_tokens), -math.inf, dtype=x.dtype), diagonal=1)
        if padding is not None and mask is not None:
            padding = torch.zeros(padding.shape, dtype=x.dtype).masked_fill(padding, -math.inf)
        return self.encoder(x, mask=mask, src_key_padding_mask=padding)

    def pool(self, vectors):
        """vectors (T,D) of one sequence -> (D), mean_max (2D)."""
        if self.config["pooling"] == "mean":
            return vectors.mean(dim=0)
        if self.config["pooling"] == "max":
            return vectors.max(dim=0).values
        if self.config["pooling"] == "mean_max":
            return torch.cat([vectors.mean(dim=0), vectors.max(dim=0).values])
        return vectors[0]

    def forward(self, sequences):
        """A list of lists of token ids -> logits (S,C)."""
        pooled = [self.pool(self.encode(torch.tensor([sequence]))[0]) for sequence in sequences]
        return self.classifier(torch.stack(pooled))

    def padded_logits(self, sequences):
        """As forward, but in one padded batch with a padding mask."""
        longest = max(len(sequence) for sequence in sequences)
        tokens = torch.tensor([sequence + [0] * (longest - len(sequence)) for sequence in sequences])
        lengths = torch.tensor([len(sequence) for sequence in sequences])
        padding = torch.arange(longest)[None, :] >= lengths[:, None]
        vectors = self.encode(tokens, padding)
        pooled = [self.pool(vectors[i, :len(sequence)]) for i, sequence in enumerate(sequences)]
        return self.classifier(torch.stack(pooled))
