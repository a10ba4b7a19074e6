import type { HttpKubeApi } from '@cofferdam/kubernetes/client/http-kube-api.ts'
import type { Daemon } from '../processes/daemon.ts'
import type { AuditedWrite } from './audit.ts'

/** A real Kubernetes without machines: etcd, API server, controller manager and scheduler on loopback. */
export interface ControlPlane {
  readonly server: string
  /** Path of the kubeconfig of an administrator. */
  readonly kubeconfig: string
  /** The API as an administrator sees it. */
  readonly api: HttpKubeApi
  /** Path of a kubectl of the server's own version. */
  readonly kubectl: string
  readonly daemons: Readonly<Record<'etcd' | 'apiserver' | 'controllerManager' | 'scheduler', Daemon>>
  /** Writes a kubeconfig with a token for this ServiceAccount, which must exist, and returns its path. */
  kubeconfigOf(account: { readonly namespace: string; readonly name: string }): Promise<string>
  /** Who has written budgets, Deployments, ConfigMaps and CephClusters so far. */
  writes(): Promise<readonly AuditedWrite[]>
  /** The CA in PEM; with its key the lab signs certificates for servers on loopback. */
  readonly ca: { readonly certificate: string; readonly key: string }
  close(): Promise<void>
}
