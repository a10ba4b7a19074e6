import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../operator/metrics.ts'
import { alerts } from './alert-rules.ts'
import { buildGrafanaDashboard, panels } from './grafana-dashboard.ts'
import { buildAlertRules, runbooks } from './monitoring-manifests.ts'

const { registry } = createMetrics()
const page = readFileSync(resolve(import.meta.dirname, '../../../../..', runbooks), 'utf8')

/** With the three that Prometheus knows a histogram by. */
async function served(): Promise<Map<string, readonly string[]>> {
  const described = await registry.getMetricsAsJSON()
  return new Map(
    described.flatMap(({ name, type }) => {
      const { labelNames = [] } = registry.getSingleMetric(name) as unknown as { labelNames?: readonly string[] }
      const ends = String(type) === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      return ends.map((end) => [`${name}${end}`, end === '_bucket' ? [...labelNames, 'le'] : labelNames] as const)
    }),
  )
}

const queries: Readonly<Record<string, string>> = Object.fromEntries([
  ...alerts.map(({ name, expression }) => [`alert ${name}`, expression]),
  ...panels.flatMap(({ title, queries: each }) =>
    each.map(({ expression }, index) => [`panel ${title} ${index + 1}`, expression]),
  ),
])

describe('a query asks for what the operator serves: another name gives no data, which passes for no trouble', () => {
  it.each(Object.entries(queries))('%s', async (_, query) => {
    const metrics = await served()
    const asked = [...query.matchAll(/cofferdam_[a-z_]+/g)].map(([name]) => name)
    expect(asked).not.toEqual([])
    expect(asked.filter((name) => !metrics.has(name))).toEqual([])
    // Labels that Prometheus itself puts on a target.
    const known = new Set(['pod', ...asked.flatMap((name) => metrics.get(name) ?? [])])
    const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(', '))
    const chosen = [...query.matchAll(/\{([a-z_]+)=/g)].map(([, name = '']) => name)
    expect([...grouped, ...chosen].filter((label) => !known.has(label))).toEqual([])
  })
})

describe('an alert', () => {
  it('leads to a section that says what to do, and every section is that of an alert', () => {
    const sections = [...page.matchAll(/^## (Cofferdam\w+)$/gm)].map(([, title]) => title)
    expect(sections).toEqual(alerts.map(({ name }) => name))
    const text = JSON.stringify(buildAlertRules())
    for (const { name } of alerts) expect(text).toContain(`${runbooks}#${name.toLowerCase()}`)
  })

  it.each(alerts.map(({ name, summary, expression }) => [name, summary, expression] as const))(
    '%s names nothing that its query has summed away: its message would have a gap there',
    (_, summary, query) => {
      const kept = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(', '))
      const named = [...summary.matchAll(/\$labels\.([a-z_]+)/g)].map(([, label]) => label)
      expect(named.filter((label) => !kept.includes(label as string))).toEqual([])
    },
  )
})

it('no two panels of the dashboard lie upon each other', () => {
  const { panels: placed } = buildGrafanaDashboard() as unknown as { panels: { id: number; gridPos: object }[] }
  expect(new Set(placed.map(({ gridPos }) => JSON.stringify(gridPos))).size).toBe(panels.length)
})
