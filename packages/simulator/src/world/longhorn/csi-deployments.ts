import type { Deployment } from '@cofferdam/kubernetes/api/apps.ts'

/** What attaches volumes for Kubernetes, and what makes them: Longhorn cannot do without either while a volume is in use. */
export const csiDeploymentNames = ['csi-attacher', 'csi-provisioner'] as const

const images = {
  'csi-attacher': 'longhornio/csi-attacher:v4.11.0',
  'csi-provisioner': 'longhornio/csi-provisioner:v5.3.0',
} as const

export function buildCsiDeployments(namespace: string): Deployment[] {
  return csiDeploymentNames.map((name) => {
    const labels = { app: name }
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace, labels: { ...labels, 'longhorn.io/managed-by': 'longhorn-manager' } },
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name, image: images[name] }] } },
      },
    }
  })
}
