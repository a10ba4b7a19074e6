import type { Paint } from '../../shared/paint.ts'
import type { Suggestion } from './suggestion.ts'

/** What the demo prints when it is up; with `-o json|yaml` it is printed as it is. */
export interface DemoReport {
  readonly cluster: string
  readonly nodes: number
  readonly zones: number
  readonly pods: number
  readonly dashboard?: string
  readonly kubernetes: string
  readonly metrics?: string
  readonly kubeconfig: string
  readonly seed: number
  /** What did not become ready in time; empty when all did. */
  readonly notReady: readonly string[]
  readonly tryThis: readonly Suggestion[]
}

const numberWords = ['Nothing', 'One thing', 'Two things', 'Three things', 'Four things', 'Five things', 'Six things']

export function renderDemo(report: DemoReport, paint: Paint): string {
  const size = `${counted(report.nodes, 'node')} in ${counted(report.zones, 'zone')}, ${counted(report.pods, 'pod')}`
  const places = [
    ...(report.dashboard === undefined ? [] : [`  Dashboard   ${paint('cyan', report.dashboard)}`]),
    `  Kubernetes  ${report.kubernetes}`,
    ...(report.metrics === undefined ? [] : [`  Metrics     ${report.metrics}`]),
    `  Kubeconfig  ${report.kubeconfig}`,
  ]
  return [
    report.notReady.length === 0
      ? `${paint('green', 'Ready:')} cluster ${report.cluster}, ${size}.`
      : `${paint('yellow', 'Up, but not all is ready:')} cluster ${report.cluster}, ${size}. Still waiting for ${report.notReady.join(', ')}.`,
    '',
    ...places,
    '',
    `  ${paint('bold', `export KUBECONFIG=${quoted(report.kubeconfig)}`)}`,
    '',
    `${numberWords[report.tryThis.length] ?? 'Things'} to try in another terminal:`,
    '',
    ...report.tryThis.flatMap(({ says, lines }, index) => [
      `  ${index + 1}. ${says}`,
      ...lines.map((line) => `     ${paint('bold', line)}`),
      '',
    ]),
    paint('dim', 'Ctrl-C ends it and leaves nothing behind.'),
  ].join('\n')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
