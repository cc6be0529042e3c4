package adapter

import "context"

// asInstaller has do done by a process of the plugin that may do it: write dirs and
// use the network.
//
// What a confined process has lost it cannot get back, and what it has it keeps. So
// an install is done by a process that is started for it, with the same manifest,
// and ended after it; the one that answers questions never has its rights.
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
