import type { HttpKubeApi } from '@cofferdam/kubernetes/client/http-kube-api.ts'
import type { Daemon } from '../processes/daemon.ts'
import type { AuditedWrite } from './audit.ts'

export type PlaneDaemon = 'etcd' | 'apiserver' | 'controllerManager' | 'scheduler'

/** A real Kubernetes without machines: etcd, API server, controller manager and scheduler on loopback. */
export interface ControlPlane {
  readonly server: string
  /** Path of the kubeconfig of an administrator. */
  readonly kubeconfig: string
  /** The API as an administrator sees it. */
  readonly api: HttpKubeApi
  /** Path of a kubectl of the server's own version. */
  readonly kubectl: string
  /** The last process of each, running or not. */
  readonly daemons: Readonly<Record<PlaneDaemon, Daemon>>
  /** Starts it anew on the same data after it has ended, as a kubelet does with the static pods of a control plane. */
  revive(name: PlaneDaemon): void
  /**
   * Writes a kubeconfig with a token for this ServiceAccount, which must exist, and returns its path. With a port, the way leads through
   * a proxy that listens there.
   */
  kubeconfigOf(account: { readonly namespace: string; readonly name: string }, viaPort?: number): Promise<string>
  /** Writes a kubeconfig of one of the users that the control plane was started with, and returns its path. */
  kubeconfigFor(user: string): Promise<string>
  /** Who has written budgets, Deployments, ConfigMaps and CephClusters so far. */
  writes(): Promise<readonly AuditedWrite[]>
  /** The CA in PEM; with its key the lab signs certificates for servers on loopback. */
  readonly ca: { readonly certificate: string; readonly key: string }
  close(): Promise<void>
}
