/** Certificates, keys and tokens come as text or as a file that is read again when it changes. */
export type Material =
  | { readonly text: string; readonly origin: string }
  | { readonly path: string; readonly origin: string }

export interface ClientCertificate {
  readonly certificate: Material
  readonly key: Material
}

/** A program that hands out credentials, as `users[].user.exec` describes it. */
export interface ExecPlugin {
  readonly apiVersion: 'client.authentication.k8s.io/v1' | 'client.authentication.k8s.io/v1beta1'
  readonly command: string
  readonly args: readonly string[]
  /** The whole environment of the plugin. */
  readonly environment: Readonly<Record<string, string>>
  readonly installHint?: string
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always'
  readonly provideClusterInfo: boolean
  /** What the cluster entry holds for plugins: the extension named `client.authentication.k8s.io/exec`. */
  readonly clusterConfig?: unknown
}

export type Authentication =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly origin: string; readonly token?: string; readonly tokenFile?: string }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'exec'; readonly plugin: ExecPlugin }

/** Whom the requests act as, by the cluster's leave. */
export interface Impersonation {
  readonly user: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

/** Everything needed to reach one cluster as one user. Holds secrets: never print one. */
export interface ClusterConnection {
  /** Where this was read, for messages: the kubeconfig file, or `the service account of this pod`. */
  readonly source: string
  readonly context?: string
  /** The namespace that is meant when none is named. */
  readonly namespace: string
  /** Without a slash at the end. */
  readonly server: string
  readonly certificateAuthority?: Material
  readonly insecureSkipTlsVerify: boolean
  readonly tlsServerName?: string
  readonly proxyUrl?: string
  readonly clientCertificate?: ClientCertificate
  readonly authentication: Authentication
  readonly impersonation?: Impersonation
}
