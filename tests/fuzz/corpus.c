// SPDX-License-Identifier: GPL-2.0-only
/* Runs a fuzz target once over each file of a directory, where the compiler has no libFuzzer. */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "shared/cleanup.h"

#define INPUT_BYTES 65536

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Opened before the target begins, which may take another root. */
static void run(int directory, const char *name)
{
	_cleanup_close_ int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ uint8_t *data = malloc(INPUT_BYTES);
	ssize_t size = data ? read(fd, data, INPUT_BYTES) : -1;

	if (size < 0) {
		perror(name);
		exit(EXIT_FAILURE);
	}
	printf("%s: %zd bytes\n", name, size);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, (size_t)size);
}

int main(int argc, char **argv)
{
	_cleanup_close_ int directory = argc == 2 ? open(argv[1], O_RDONLY | O_DIRECTORY) : -1;
	struct dirent **inputs;
	int n = directory < 0 ? -1 : scandirat(directory, ".", &inputs, is_input, alphasort);

	if (n <= 0) {
		fprintf(stderr, "usage: %s DIRECTORY, one with inputs\n", argv[0]);
		return EXIT_FAILURE;
	}
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	for (int i = 0; i < n; i++) {
		run(directory, inputs[i]->d_name);
		free(inputs[i]);
	}
	free(inputs);
	return EXIT_SUCCESS;
}
