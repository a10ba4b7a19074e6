/** A command that a test cannot run as it is written, without the comment behind it, and why. Each must still be in the document. */
export interface Exception {
  readonly document: string
  readonly command: string
  readonly why: string
  /** What is run in its place. Absent: nothing is. */
  readonly instead?: { readonly command: string; readonly exitCode: number }
}

const readme = 'README.md'
const guide = 'docs/guide/getting-started.md'
const builtBefore = 'what runs here is what the build left'

/** What is installed beside the demo would be a second operator, without a program behind it. */
const applies = (document: string, folder: string, before = ''): Exception => ({
  document,
  command: `kubectl apply -k ${folder}`,
  why: 'the demo has an operator; its API server says whether it would take all of it',
  instead: { command: `${before}kubectl apply -k ${folder} --dry-run=server`, exitCode: 0 },
})
const installs = (document: string, folder: string, before?: string): Exception[] => [
  applies(document, folder, before),
  {
    document,
    command: 'kubectl -n cofferdam-system rollout status deployment/cofferdam-operator',
    why: 'the operator of the demo is no pod',
  },
]

export const exceptions: readonly Exception[] = [
  ...installs('docs/guide/plain-nodes.md', 'deploy/'),
  ...installs('docs/guide/rook.md', 'examples/install/rook-ceph'),
  ...installs('docs/guide/longhorn.md', 'examples/install/longhorn'),
  ...installs(
    'docs/guide/openshift.md',
    'examples/install/openshift',
    'kubectl create namespace openshift-storage && ',
  ),
  {
    document: 'docs/guide/openshift.md',
    command: 'kubectl annotate machineconfigpool worker cofferdam.io/manage-pause=true',
    why: 'the demo has no Machine Config Operator; scenarios/ has one',
  },
  ...[readme, guide].map((document) => ({
    document,
    command: 'npm start',
    why: 'the walk has started the same demo on free ports, and compares what that printed',
    instead: { command: 'cat demo.log', exitCode: 0 },
  })),
  { document: readme, command: 'npm test', why: 'it is the suite that runs before this one' },
  { document: readme, command: 'npm run build', why: builtBefore },
  applies(readme, 'deploy/'),
  applies(readme, 'examples/install/rook-ceph'),
  {
    document: readme,
    command: 'node bin/cofferdam.js operator --dry-run',
    why: 'it runs until it is ended, and the port of its health is taken where another demo runs',
    instead: {
      command: 'timeout --preserve-status 15 node bin/cofferdam.js operator --dry-run --health-port 0',
      exitCode: 0,
    },
  },
  {
    document: guide,
    command: 'kubectl get pods -A -w',
    why: 'it never ends by itself',
    instead: { command: 'timeout 3 kubectl get pods -A -w', exitCode: 124 },
  },
  { document: guide, command: 'npm run build', why: builtBefore },
  {
    document: guide,
    command: 'node bin/cofferdam.js demo --cluster examples/clusters/two-drainers.yaml',
    why: 'it runs until it is ended, and its ports are taken where another demo runs',
    instead: {
      command:
        'timeout --preserve-status 15 node bin/cofferdam.js demo --cluster examples/clusters/two-drainers.yaml --port 0 --kube-port 0',
      exitCode: 0,
    },
  },
]

export function isFor(
  { document, command }: Exception,
  written: { readonly document: string; readonly text: string },
): boolean {
  return document === written.document && command === written.text.replace(/\s+# .*$/, '').trim()
}
