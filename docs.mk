# docs.mk: pages that are made from the code.
INCLUDE_docs = $(INCLUDE_src/model)

build/float/docs/config_page: build/float/docs/config_page.o build/float/libtapestry.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

docs/config.md: build/float/docs/config_page
	$< >$@.new
	mv $@.new $@
-include build/float/docs/config_page.d
