package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// lookup returns the value at a path of a JSON document as text. A step of the path is the name of a member,
// the number of an element, # for the number of elements, or [key=value] for the element that has this member.
func lookup(doc []byte, path string) (string, error) {
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return "", err
	}
	for _, step := range steps.FindAllString(path, -1) {
		next, err := descend(v, step)
		if err != nil {
			return "", err
		}
		v = next
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	text, err := json.Marshal(v)
	return string(text), err
}

// steps matches the steps of a path; a dot inside of brackets separates no steps.
var steps = regexp.MustCompile(`\[[^\]]*\]|[^.\[]+`)

func descend(v any, step string) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if child, ok := v[step]; ok {
			return child, nil
		}
	case []any:
		if step == "#" {
			return len(v), nil
		}
		if key, want, ok := strings.Cut(strings.Trim(step, "[]"), "="); ok {
			return element(v, key, want)
		}
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) {
			return v[i], nil
		}
	}
	return nil, fmt.Errorf("no %q", step)
}

func element(list []any, key, want string) (any, error) {
	for _, e := range list {
		if m, ok := e.(map[string]any); ok && fmt.Sprint(m[key]) == want {
			return e, nil
		}
	}
	return nil, fmt.Errorf("no element with %s=%s", key, want)
}
