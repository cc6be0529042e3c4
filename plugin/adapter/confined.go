package adapter

import "context"

// asInstaller calls do with a process of the plugin that may write dirs and use the
// network.
//
// A process can neither regain a right nor lose one. So asInstaller starts a separate process with the
// same manifest for an install, and ends it afterwards. The process that answers questions never has the
// rights of an install.
func (p *Process) asInstaller(ctx context.Context, dirs []string, do func(*Process) error) error {
	p.idle.isBusy()
	box := p.o.Sandbox[p.id]
	if box == nil {
		return do(p)
	}
	installer := newProcess(p.from, p.o)
	installer.manifest, installer.raw, installer.text, installer.executable = p.manifest, p.raw, p.text, p.executable
	plugin, err := installer.launch(ctx, box.ForInstall(dirs...))
	if err != nil {
		return err
	}
	defer plugin.Close()
	installer.plugin = plugin
	return do(installer)
}
