import { describe, expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'

/** Labels that Prometheus, its operator or a federation puts on every series of a target. */
const scrapeLabels = ['cluster', 'container', 'endpoint', 'instance', 'job', 'namespace', 'node', 'pod', 'service']
/** Base units, as the conventions of Prometheus have them; no minutes, no mebibytes. */
const otherUnits = /_(ms|milliseconds?|minutes?|hours?|kib|mib|gib|kilobytes|megabytes|percent)(_total)?$/

interface Described {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly labels: readonly string[]
}

/** A gauge of facts in labels, and nothing else, is called `_info`. */
function faultsOf({ name, help, type, labels }: Described): string[] {
  const rules: Record<string, boolean> = {
    'begins with cofferdam_': name.startsWith('cofferdam_'),
    'ends in _total exactly if it is a counter': name.endsWith('_total') === (type === 'counter'),
    'has no type in its name': !/_(bool|gauge|counter|histogram)(_|$)/.test(name),
    'has a base unit': !otherUnits.test(name),
    'has its unit last': !/_(seconds|bytes)_(?!total$)/.test(name),
    'is a histogram of seconds or bytes': type !== 'histogram' || /_(seconds|bytes)$/.test(name),
    'is written in lower case':
      /^[a-z][a-z0-9_]*$/.test(name) && labels.every((label) => /^[a-z][a-z0-9_]*$/.test(label)),
    'says what it is in a sentence': /^[A-Z0-9].{10,}\.$/.test(help),
    'has no label of the scraper': labels.every((label) => !scrapeLabels.includes(label)),
    'names a Ceph cluster by both labels': labels.includes('ceph_namespace') === labels.includes('ceph_cluster'),
  }
  return Object.entries(rules).flatMap(([rule, holds]) => (holds ? [] : [`${name}: ${rule}`]))
}

const described = (metric: object): Described => {
  const { name, help, labelNames } = metric as { name: string; help: string; labelNames: readonly string[] }
  return { name, help, type: metric.constructor.name.toLowerCase(), labels: labelNames }
}

describe('the metrics of the operator', () => {
  it('follow the conventions of Prometheus, every one of them, so that no rule of an alert has to guess', () => {
    const metrics = createMetrics().registry.getMetricsAsArray().map(described)
    expect(metrics.length).toBeGreaterThan(40)
    expect(metrics.flatMap(faultsOf)).toEqual([])
  })

  it.each<[Partial<Described>, string]>([
    [{ name: 'cofferdam_leader_bool' }, 'has no type in its name'],
    [{ name: 'cofferdam_waits_ms' }, 'has a base unit'],
    [{ name: 'cofferdam_seconds_left' }, 'has its unit last'],
    [{ name: 'cofferdam_writes', type: 'counter' }, 'ends in _total exactly if it is a counter'],
    [{ labels: ['namespace'] }, 'has no label of the scraper'],
  ])('%o would be found', (wrong, rule) => {
    const right = { name: 'cofferdam_leader', help: 'Whether this process leads.', type: 'gauge', labels: [] }
    expect(faultsOf(right)).toEqual([])
    expect(faultsOf({ ...right, ...wrong })).toEqual([`${wrong.name ?? right.name}: ${rule}`])
  })

  it('say which version runs', async () => {
    expect(await createMetrics().registry.metrics()).toMatch(
      /^cofferdam_build_info\{version="[^"]+",nodejs="[^"]+"\} 1$/m,
    )
  })
})
