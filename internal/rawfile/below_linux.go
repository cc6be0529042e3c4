package rawfile

import "golang.org/x/sys/unix"

// OpenDirBelow opens the directory at path below f in one step, if the system supports that. A link
// on the way is an error.
func (f *File) OpenDirBelow(path string) (*File, error) {
	dir := &File{fd: -1, name: f.join(path)}
	return dir, dir.do("open", func() (err error) {
		dir.fd, err = unix.Openat2(f.fd, path, &unix.OpenHow{
			Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
		})
		return err
	})
}
