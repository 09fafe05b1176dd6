/* Debian's archives of C libraries are compiled for programs, whose own copy of stderr and stdout they read. A shared
 * library has none, so it gets one, which only they see. */
struct _IO_FILE;
extern struct _IO_FILE _IO_2_1_stdout_, _IO_2_1_stderr_; /* of the GNU C library */

__attribute__((visibility("hidden"))) struct _IO_FILE* stdout = &_IO_2_1_stdout_;
__attribute__((visibility("hidden"))) struct _IO_FILE* stderr = &_IO_2_1_stderr_;
