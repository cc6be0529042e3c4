package key

import (
	"strings"
	"testing"

	"github.com/bentobuild/bento/internal/dish"
	"github.com/bentobuild/bento/internal/plan"
)

// TestImage: only an image with a digest, of a container that sees nothing else of the machine, counts in place of it.
func TestImage(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("ab", 32)
	e := &Evaluator{o: Options{ImageOf: func(c *dish.Container) (string, error) {
		if c.Image == "unlocked" {
			return "", &UnknownImage{Image: c.Image}
		}
		return "sha256:" + digest, nil
	}}}
	for name, c := range map[string]*dish.Container{
		"none": nil, "unlocked": {Image: "unlocked"}, "dockerfile": {Dockerfile: "Dockerfile"},
		"mounts": {Image: "gcc:14", Mounts: []dish.Mount{{Source: "/usr", Target: "/host"}}},
	} {
		if sum := e.Image(&plan.Task{Dish: new(dish.Dish), Container: c}); sum != [32]byte{} {
			t.Errorf("%s: %x, want none", name, sum)
		}
	}
	if sum := e.Image(&plan.Task{Dish: new(dish.Dish), Container: &dish.Container{Image: "gcc:14"}}); sum[0] != 0xab || sum[31] != 0xab {
		t.Errorf("an image: %x", sum)
	}
}
