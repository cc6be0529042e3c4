// The part of the bento adapter protocol, version 1, that this adapter speaks.

export interface Request {
  id?: number | string;
  method?: string;
  params?: unknown;
}

export interface Task {
  name: string;
  run: string;
  inputs?: string[];
  outputs?: string[];
  depends_on?: string[];
  cwd?: string;
  env?: Record<string, string>;
}

export interface Hook {
  parser: string;
  rerun: { kind: "append_args"; args: string[] } | { kind: "replace"; command: string };
}

export interface Manifest {
  protocol_version: 1;
  adapter_id: string;
  display_name: string;
  fingerprint_files: string[];
  default_tasks: Task[];
  derived_paths?: string[];
  capabilities?: Partial<Record<
    "detect" | "required_toolchain" | "resolved_toolchain_fingerprint" | "install" | "tasks" | "links" | "install_scope" | "resolved_toolchain",
    boolean
  >>;
  diagnostic_hooks?: Record<string, Hook>;
}

export interface Toolchain {
  tool: string;
  version: string;
  file?: string;
  line?: number;
}

export interface Links {
  links: ({ dir: string; file: string; line?: number } | { package: string; file: string; line?: number })[];
  provides?: string[];
}

export interface Diagnosed {
  diagnostics: {
    file: string;
    line: number;
    col?: number;
    severity: "error" | "warning" | "info" | "hint";
    message: string;
    rule?: string;
    source: string;
  }[];
}
