import type { DaemonSet } from '@cofferdam/kubernetes/api/apps.ts'

const labels = { app: 'longhorn-manager' }

/** What handles drains in every Longhorn that was released, on each node. */
export function buildManagerDaemonSet(namespace: string): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'longhorn-manager', namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'longhorn-manager', image: 'longhornio/longhorn-manager:v1.12.1' }] },
      },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '100%' } },
    },
  }
}
