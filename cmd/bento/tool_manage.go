package main

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bentobuild/bento/internal/kit"
	"github.com/bentobuild/bento/internal/report"
	"github.com/bentobuild/bento/internal/state"
)

// changedTool is the document of the commands that change an installed package.
type changedTool struct {
	Schema   string   `json:"schema"`
	ID       string   `json:"id"`
	Versions []string `json:"versions,omitempty"` // removed ones
	From     string   `json:"from,omitempty"`     // the active version before
	Version  string   `json:"version,omitempty"`  // the active version now
	Enabled  *bool    `json:"enabled,omitempty"`
}

func (s *session) toolChanged(command string, doc changedTool, text string) error {
	if doc.Schema = report.Schema(command); s.flags.json {
		return report.Write(s.out, doc)
	}
	_, err := fmt.Fprintln(s.out, text)
	return err
}

func newToolRemove(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME[@VERSION]", Example: "  bento tool remove acme-fmt\n  bento tool remove acme-fmt@1.2.0",
		Short: "Remove an installed package, or one version of it",
		Args:  exactly(1, "bento tool remove requires one package"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.removePackage(cmd.Context(), "tool.remove", kit.ToolPackages, args[0])
		},
	}
}

// removePackage removes an installed package, or only the version after "@". command is the name of the document.
func (s *session) removePackage(ctx context.Context, command string, open packageOpener, name string) error {
	p, err := s.packages(open)
	if err != nil {
		return err
	}
	id, removed, err := p.Discard(ctx, name)
	if err != nil {
		return err
	}
	return s.toolChanged(command, changedTool{ID: id, Versions: removed}, fmt.Sprintf("%s: removed %s", id, strings.Join(removed, ", ")))
}

func newToolRollback(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "rollback NAME", Example: "  bento tool rollback acme-fmt",
		Short: "Activate the next lower installed version of a package",
		Args:  exactly(1, "bento tool rollback requires one package"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := s.packages(kit.ToolPackages)
			if err != nil {
				return err
			}
			from, to, err := p.Rollback(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return s.toolChanged("tool.rollback", changedTool{ID: args[0], From: from, Version: to}, fmt.Sprintf("%s: %s is active in place of %s", args[0], to, from))
		},
	}
}

func newToolEnable(s *session, on bool) *cobra.Command {
	verb, short := "enable", "Allow the use of a disabled package"
	if !on {
		verb, short = "disable", "Forbid the use of an installed package"
	}
	return &cobra.Command{
		Use: verb + " NAME", Short: short, Example: "  bento tool " + verb + " acme-fmt",
		Args: exactly(1, "bento tool "+verb+" requires one package"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := s.packages(kit.ToolPackages)
			if err != nil {
				return err
			}
			if err := p.Enable(cmd.Context(), args[0], on); err != nil {
				return err
			}
			return s.toolChanged("tool."+verb, changedTool{ID: args[0], Enabled: &on}, args[0]+": "+verb+"d")
		},
	}
}

// verifiedTools is the document of `bento tool verify`.
type verifiedTools struct {
	Schema string             `json:"schema"`
	Tools  []kit.VerifiedTool `json:"tools"`
}

func newToolVerify(s *session) *cobra.Command {
	return &cobra.Command{
		Use: "verify [NAME...]", Example: "  bento tool verify\n  bento tool verify acme-fmt --json",
		Short: "Compare installed packages with their manifests",
		Long: "Read every file of the installed packages and compare it with what was installed and with\n" +
			"the manifest; check the signatures. The exit status is 2 if a package is damaged.",
		RunE: func(_ *cobra.Command, names []string) error { return s.toolVerify(names) },
	}
}

func (s *session) toolVerify(names []string) error {
	p, err := s.packages(kit.ToolPackages)
	if err != nil {
		return err
	}
	doc, whole := verifiedTools{Schema: report.Schema("tool.verify")}, false
	if doc.Tools, whole, err = p.VerifyTools(names); err != nil {
		return err
	}
	if !whole {
		s.outcome = exitInput
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	for _, t := range doc.Tools {
		word := "ok"
		if !t.OK {
			word = "damaged"
		}
		if t.Signature != "" {
			word += ", signature " + strings.ReplaceAll(t.Signature, "_", " ")
		}
		fmt.Fprintf(s.out, "%s %s: %s\n", t.ID, t.Version, word)
		for _, p := range append(t.Problems, t.Notes...) {
			fmt.Fprintf(s.out, "  %s\n", report.Printable(p))
		}
	}
	return nil
}

// packedTool is the document of `bento tool package`.
type packedTool struct {
	Schema    string `json:"schema"`
	Path      string `json:"path"`
	ID        string `json:"id"`
	Version   string `json:"version"`
	Kind      string `json:"kind"`
	Digest    string `json:"digest"`           // of the package
	KeyID     string `json:"key_id,omitempty"` // of the key that signed it
	PublicKey string `json:"public_key,omitempty"`
}

func newToolPackage(s *session) *cobra.Command {
	var out, key, name string
	cmd := &cobra.Command{
		Use: "package DIR", Short: "Make the package of a tool",
		Long: "Make an uncompressed tar of the directory DIR with the manifest of a tool. For a module the\n" +
			"command computes wasm_sha256, and with --key signs the manifest. The same files make the\n" +
			"same bytes. A key file has 64 hexadecimal digits: the 32 bytes of an Ed25519 seed.",
		Example: "  bento tool package ./acme-fmt\n  bento tool package ./acme-fmt --key ~/acme.key --key-id acme",
		Args:    exactly(1, "bento tool package requires one directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			signing, err := signingKey(key, name)
			if err != nil {
				return err
			}
			return s.toolPackage(args[0], out, name, signing)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "the `FILE` to write, instead of NAME-VERSION.tar")
	cmd.Flags().StringVar(&key, "key", "", "the `FILE` with the key that signs the manifest of a module")
	cmd.Flags().StringVar(&name, "key-id", "", "the `NAME` of the key, for signing_key_id")
	return cmd
}

// signingKey reads the file of a private key; it returns nil without a file.
func signingKey(file, name string) (ed25519.PrivateKey, error) {
	if (file == "") != (name == "") {
		return nil, usageError("--key and --key-id belong together", "write both, or neither")
	}
	if file == "" {
		return nil, nil
	}
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, usageError("--key: "+err.Error(), "")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1000))
	if err != nil {
		return nil, err
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, usageError(fmt.Sprintf("--key: %q is no key, expected %d hexadecimal digits", file, 2*ed25519.SeedSize), "make one with: openssl rand -hex 32")
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

func (s *session) toolPackage(dir, out, keyName string, key ed25519.PrivateKey) error {
	p, err := kit.PackTool(dir, keyName, key)
	if err != nil {
		return err
	}
	if out == "" {
		out = p.ID + "-" + p.Version + ".tar"
	}
	if fi, err := os.Stat(filepath.Dir(out)); err != nil || !fi.IsDir() {
		return usageError(fmt.Sprintf("--out %q: its directory is missing", out), "make the directory, or choose another one")
	}
	if err := state.WriteFile(out, p.Packed, 0o644); err != nil {
		return err
	}
	doc := packedTool{Schema: report.Schema("tool.package"), Path: out, ID: p.ID, Version: p.Version, Kind: p.Kind, Digest: p.Digest}
	if key != nil {
		doc.KeyID, doc.PublicKey = keyName, hex.EncodeToString(key.Public().(ed25519.PublicKey))
	}
	if s.flags.json {
		return report.Write(s.out, doc)
	}
	fmt.Fprintf(s.out, "%s: %s %s, digest %s\n", out, p.ID, p.Version, p.Digest)
	if doc.PublicKey != "" {
		fmt.Fprintf(s.out, "signed with the key %s; to trust it, users add to their own configuration:\n[tools]\ntrusted_keys = { %s = %q }\n", keyName, keyName, doc.PublicKey)
	}
	return nil
}
