const namespace = 'shop'

interface Workload {
  readonly name: string
  readonly image: string
  readonly replicas: number
  /** What its one process is; the image of the operator brings Node.js. */
  readonly script: string
  readonly graceSeconds: number
}

function deployment({ name, image, replicas, script, graceSeconds }: Workload): object {
  const labels = { app: name }
  const container = {
    name,
    image,
    command: ['/usr/bin/node', '-e', script],
    readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { terminationGracePeriodSeconds: graceSeconds, containers: [container] },
      },
    },
  }
}

const serveAfter = (ms: number) =>
  `setTimeout(() => require('node:http').createServer((_, answer) => answer.end()).listen(8080), ${ms});`

/**
 * A shop of which one pod has to be there. `orders` answers its probe three seconds after its start, and takes two more to end when it is told to. `mill` does not
 * listen at all: it is killed when its time is over.
 */
export function shopObjects(image: string): readonly object[] {
  const endSlowly = `process.on('SIGTERM', () => setTimeout(() => process.exit(0), 2000));`
  const orders = { name: 'orders', image, replicas: 2, script: serveAfter(3_000) + endSlowly, graceSeconds: 20 }
  const deaf = `process.on('SIGTERM', () => {});`
  const mill = { name: 'mill', image, replicas: 1, script: serveAfter(0) + deaf, graceSeconds: 4 }
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    deployment(orders),
    deployment(mill),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'orders', namespace },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'orders' } } },
    },
  ]
}
