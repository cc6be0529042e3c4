package discovery

// Options returns the options that dish.toml sets for the plugin of the dish, JSON; "" for none.
// Those of the workspace are part of the identity of the plugin.
func (d *Dish) Options() string {
	if d.Config == nil || d.Adapter == nil || len(d.Config.Options) == 0 {
		return ""
	}
	return d.Config.Options[d.Adapter.Manifest().AdapterID].JSON
}
