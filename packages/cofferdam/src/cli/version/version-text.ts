import { ageText } from '../../shared/age-text.ts'
import type { Paint } from '../../shared/paint.ts'
import type { ClusterVersions, Versions } from './version-observe.ts'

export function renderVersions({ client, cluster }: Versions, paint: Paint): string {
  const lines: [string, string][] = [['Client', client]]
  if (cluster !== undefined) {
    lines.push(
      ['Cluster', `${cluster.kubernetes ?? 'unknown'} at ${cluster.server}`],
      ['Operator', operatorText(cluster, client, paint)],
      ['CRDs', definitionsText(cluster, paint)],
    )
  }
  const notSeen = (cluster?.notSeen ?? []).map((what) => `${paint('yellow', 'not seen:')} ${what}`)
  return [...lines.map(([name, text]) => `${paint('bold', name.padEnd(10))}${text}`), ...notSeen].join('\n')
}

function operatorText({ operator, observedAt }: ClusterVersions, client: string, paint: Paint): string {
  const { isRunning, leader, since, version } = operator
  const skew =
    version === undefined || version === client ? '' : paint('yellow', `; not the version of this client, ${client}`)
  const called = version ?? 'of an unknown version'
  if (isRunning === undefined) return paint('yellow', `${version ?? 'unknown'}; its lease may not be read`)
  if (isRunning) return `${called}, ${leader ?? ''} leads${forText(ageText(since, observedAt))}${skew}`
  return `${paint('red', 'not running')}${version === undefined ? '' : `; the last was ${version}`}`
}

function definitionsText({ definitions }: ClusterVersions, paint: Paint): string {
  const named = (state: ClusterVersions['definitions'][number]['state']) =>
    definitions.filter((each) => each.state === state).map(({ name }) => name)
  const [missing, differ, unread] = [named('missing'), named('differs'), named('unknown')]
  if (missing.length === definitions.length) return paint('red', 'not installed; apply deploy/crds')
  const parts = [
    ...(missing.length === 0 ? [] : [paint('red', `missing: ${missing.join(', ')}; apply deploy/crds`)]),
    ...(differ.length === 0
      ? []
      : [paint('yellow', `of another version: ${differ.join(', ')}; apply deploy/crds of the operator's version`)]),
    ...(unread.length === 0 ? [] : [paint('yellow', `unknown: ${unread.length} may not be read`)]),
  ]
  return parts.length === 0 ? `all ${definitions.length} of this version` : parts.join('; ')
}

function forText(age: string | undefined): string {
  return age === undefined ? '' : ` for ${age}`
}
