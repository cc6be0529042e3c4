package glob

import "fmt"

// maxArms is the largest number of patterns that the braces of one glob expand to, and maxGlob the
// largest length of one in bytes.
const (
	maxArms = 256
	maxGlob = 4096
)

// expand returns the patterns without braces that pattern expands to. A "{" in a class or after a
// backslash is no brace.
func expand(pattern string) ([]string, error) {
	todo, arms := []string{pattern}, []string(nil)
	for steps := 0; len(todo) > 0; steps++ {
		if steps > 4*maxArms {
			return nil, fmt.Errorf("it has too many braces")
		}
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		from := openBrace(p)
		if from < 0 {
			arms = append(arms, p)
			continue
		}
		choices, to := choices(p, from)
		if to < 0 {
			return nil, fmt.Errorf("a brace is not closed")
		}
		if len(arms)+len(todo)+len(choices) > maxArms {
			return nil, fmt.Errorf("its braces expand to more than %d patterns", maxArms)
		}
		for i := len(choices) - 1; i >= 0; i-- {
			todo = append(todo, p[:from]+choices[i]+p[to+1:])
		}
	}
	return arms, nil
}

// openBrace returns the position of the first brace, or -1.
func openBrace(p string) int {
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '[':
			i = classEnd(p, i)
		case '{':
			return i
		}
	}
	return -1
}

// classEnd returns the position of the bracket that closes the one at p[i], or the
// end of p.
func classEnd(p string, i int) int {
	for i++; i < len(p) && p[i] != ']'; i++ {
		if p[i] == '\\' {
			i++
		}
	}
	return i
}

// choices returns the alternatives between the brace at p[from] and its closing brace at to; to is
// -1 when none closes it.
func choices(p string, from int) (list []string, to int) {
	depth, start := 0, from+1
	for i := from; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return append(list, p[start:i]), i
			}
		case ',':
			if depth == 1 {
				list = append(list, p[start:i])
				start = i + 1
			}
		}
	}
	return nil, -1
}
