/**
 * What differs each time a command is run, and what stands for it in both texts before they are compared. Everything else must be
 * equal, line by line, except for spaces: columns are as wide as the widest age and name in them.
 */
const variable: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z/g, '<moment>'],
  [/(?<=-)\d{8}-\d{6}\b/g, '<moment>'],
  [/\b\d\d:\d\d(:\d\d)?( UTC)?\b/g, '<moment>'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uuid>'],
  // Pods of Deployments, of DaemonSets and of Longhorn, its replicas, the operator of the demo.
  [/(?<=-)[a-z0-9]{8,10}-[a-z0-9]{5}\b/g, '<suffix>'],
  [/\b(node-agent|longhorn-manager)-[a-z0-9]{5}\b/g, '$1-<suffix>'],
  [/\binstance-manager-[0-9a-f]{32}\b/g, 'instance-manager-<hash>'],
  [/-r-[a-z0-9]{8}\b/g, '-r-<suffix>'],
  [/\bdemo_[a-z0-9]{8}\b/g, 'demo_<suffix>'],
  [/\b\d+\.\d+\.\d+\.\d+(:\d+)?\b/g, '<address>'],
  [/\b\d+(\.\d+)? ([KMG]i)?B(?![A-Za-z])/g, '<size>'],
  // 5s, 2m13s, 1h, about 10 s, 1800 s.
  [/\b(\d+(\.\d+)?(ms|d|h|m|s))+\b/g, '<time>'],
  [/\b\d+(\.\d+)? s\b/g, '<time>'],
  // Who ran the command: ann@laptop.
  [/\b[\w.-]+@[\w.-]+\b/g, '<person>'],
]

/** A text as it is compared. */
export function normalizeOutput(text: string): string {
  const same = variable.reduce((so, [pattern, stands]) => so.replaceAll(pattern, stands), text)
  return same
    .split('\n')
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .join('\n')
    .trim()
}

/** Whether a command printed what a document promises. `…` stands for anything within a line, and alone in its line for any lines. */
export function isAsPromised(printed: string, promised: string): boolean {
  const lines = normalizeOutput(promised).split('\n')
  const pattern = lines.map((line) => (line === '…' ? anyLines : `${lineOf(line)}\n`)).join('')
  return new RegExp(`^${pattern}$`).test(`${normalizeOutput(printed)}\n`)
}

const anyLines = '(?:.*\\n)*?'

function lineOf(line: string): string {
  return line.split('…').map(escaped).join('.*')
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
