import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { errorCatalogue } from '@cofferdam/kubernetes/errors.ts'
import { explainDisruption } from '@cofferdam/product/capabilities/drain-lock/view/explain-disruption.ts'
import type { HoldView } from '@cofferdam/product/capabilities/drain-lock/view/hold-view.ts'
import type { SeenUpdate } from '@cofferdam/product/capabilities/osd-update/view/summarize-update.ts'
import { explainBudget } from '@cofferdam/product/explain/explain-budget.ts'
import { explainCephCluster } from '@cofferdam/product/explain/explain-ceph-cluster.ts'
import { explainNode } from '@cofferdam/product/explain/explain-node.ts'
import { explainOsd } from '@cofferdam/product/explain/explain-osd.ts'
import { explainPod } from '@cofferdam/product/explain/explain-pod.ts'
import { explainRequest } from '@cofferdam/product/explain/explain-request.ts'
import { summarizeCluster } from '@cofferdam/product/explain/summarize-cluster.ts'
import { instanceManager, longhornSeen } from '@cofferdam/product/explain/testing/longhorn-objects.ts'
import {
  budget,
  earlier,
  node,
  now,
  osdBudget,
  osdPod,
  pod,
  storageView,
} from '@cofferdam/product/explain/testing/sample-objects.ts'
import { emptyLedger, grant } from '@cofferdam/product/ledger/rules/ledger.ts'
import { capabilities } from '@cofferdam/product/operator/capabilities.ts'
import { createMetrics } from '@cofferdam/product/operator/metrics.ts'
import type { NodeDisruption } from '@cofferdam/product/shared/kinds/node-disruption.ts'
import { reasons } from '@cofferdam/product/shared/reasons.ts'
import { describe, expect, it } from 'vitest'
import { wholeProgram } from './whole-program.ts'

const root = resolve(import.meta.dirname, '..')

function firstColumn(page: string): string[] {
  const rows = readFileSync(join(root, 'docs/reference', page), 'utf8').matchAll(/^\| `([^`]+)` \|/gm)
  return [...rows].map((row) => row[1] as string)
}

describe('the reference pages say what the code says, no more and no less', () => {
  it('errors', () => {
    expect(firstColumn('errors.md')).toEqual(Object.keys(errorCatalogue).sort())
    const page = readFileSync(join(root, 'docs/reference/errors.md'), 'utf8')
    for (const [code, { retry }] of Object.entries(errorCatalogue)) {
      expect(page).toMatch(new RegExp(`\\| \`${code}\` \\| .* \\| ${retry === 'backoff' ? 'yes' : 'no'} \\|`))
    }
  })

  it('capabilities, in the order of the list, and each has its own page', () => {
    const rows = capabilities.map(({ name, controllers, summary }) => {
      const named = controllers.map((controller) => `\`${controller.name}\``).join(', ')
      return `| \`${name}\` | ${named} | ${summary} |`
    })
    const page = readFileSync(join(root, 'docs/reference/capabilities.md'), 'utf8')
    expect(page.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows)
    const missing = capabilities.filter(({ name }) => !existsSync(join(root, 'docs', `${name}.md`)))
    expect(missing.map(({ name }) => name)).toEqual([])
  })

  it('metrics', async () => {
    const described = await createMetrics().registry.getMetricsAsJSON()
    expect(firstColumn('metrics.md')).toEqual(described.map(({ name }) => name).sort())
    const page = readFileSync(join(root, 'docs/reference/metrics.md'), 'utf8')
    for (const { name, type } of described) expect(page).toContain(`| \`${name}\` | ${type} |`)
  })

  it('reasons', () => {
    expect(firstColumn('reasons.md')).toEqual(Object.keys(reasons).sort())
    const page = readFileSync(join(root, 'docs/reference/reasons.md'), 'utf8')
    for (const [reason, says] of Object.entries(reasons)) expect(page).toContain(`| \`${reason}\` | ${says} |`)
  })
})

describe('the page of commands', () => {
  const page = readFileSync(join(root, 'docs/reference/commands.md'), 'utf8')
  const sections = new Map(
    page
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.slice(0, section.indexOf('\n')), section]),
  )
  const flagsOn = (section: string) =>
    [...(sections.get(section) ?? '').matchAll(/^\| `(-[^`]+)` \|/gm)].map((row) => row[1] as string).sort()
  const program = wholeProgram()

  const commands = program.commands.flatMap((command) =>
    command.commands.length === 0
      ? [[command.name(), command] as const]
      : command.commands.map((inner) => [`${command.name()} ${inner.name()}`, inner] as const),
  )

  it('has a section for every command and for no other', () => {
    const described = [...sections.keys()].filter((title) => title.startsWith('cofferdam '))
    expect(described).toEqual(commands.map(([name]) => `cofferdam ${name}`).sort())
  })

  it.each(commands)('has every flag of %s and no other', (name, command) => {
    expect(flagsOn(`cofferdam ${name}`)).toEqual(command.options.map(({ flags }) => flags).sort())
  })

  it.each(commands)('durations of %s have defaults that people can read, not milliseconds', (_name, command) => {
    const unreadable = command.options.filter(
      ({ flags, defaultValue, defaultValueDescription }) =>
        flags.includes('<duration>') && defaultValue !== undefined && defaultValueDescription === undefined,
    )
    expect(unreadable.map(({ flags }) => flags)).toEqual([])
  })

  it('names every field of the data that explain and status print', () => {
    const rows = page.split('\n').filter((line) => line.startsWith('| `'))
    const named = new Set(rows.flatMap((row) => [...row.matchAll(/`([A-Za-z]+)`/g)].map((match) => match[1])))
    const silentNode = node('node-b', { isReady: false, spec: { unschedulable: true } })
    const pods = [pod('web-1', { node: 'node-b' }), osdPod(2, { zone: 'zone-y', node: 'node-b' })]
    const recorded = storageView({
      isAttended: false,
      unattendedSince: earlier,
      domains: [{ domain: 'y', osds: [2], nodes: ['node-b'], mayDrain: false, reason: '', explanation: '' }],
      domainCounts: { total: 1, held: 1 },
    })
    const web = budget('web', { disruptionsAllowed: 0, disruptedPods: { 'web-1': earlier } })
    const request: NodeDisruption = {
      apiVersion: 'cofferdam.io/v1alpha1',
      kind: 'NodeDisruption',
      metadata: {
        name: 'reboot',
        annotations: { 'cofferdam.io/break-glass': `{"by":"ann","reason":"fire","until":"${now}"}` },
      },
      spec: {
        nodeName: 'node-b',
        intent: 'Reboot',
        honourSkipDrain: true,
        requester: 'ann',
        reason: 'kernel',
        gracePeriodSeconds: 30,
        fallbackAfter: '30m',
        deadline: now,
      },
      status: {
        phase: 'Waiting',
        epoch: 1,
        cordonedBy: 'another user',
        blockedBy: [{ object: '', holder: '', since: earlier, reason: 'AppLocked', wayOut: '', pods: [''] }],
        warnings: [{ object: '', says: '' }],
        conditions: [{ type: 'Drained', status: 'False', reason: 'AppLocked', message: '', lastTransitionTime: now }],
      },
    }
    const claims = [{ key: 'pdb/shop/web', uid: '', scope: 'zone-y' }]
    const granted = grant(emptyLedger, { requestId: 'r', holder: 'op', claims, now })
    const lock = { holder: 'ann', reason: 'rebalancing', sinceMs: 0, writtenMs: 0, untilMs: 0 }
    const holds: HoldView = {
      nowMs: Date.parse(now),
      ledger: { known: true, value: granted.ledger },
      appLocks: new Map([['pdb/shop/web', { lock }]]),
      disruptions: [explainDisruption(request)],
      leftByRequest: [],
      hasGuard: true,
    }
    const longhorn = longhornSeen(
      {
        policy: 'block-for-eviction',
        inForce: { known: true, value: 'always-allow' },
        problems: [''],
        nodes: { 'node-b': { isCordoned: true, moving: { sinceMs: -1000, bytes: 2000 } }, 'node-c': {} },
        volumes: { vol: { copies: { 'node-b': { isEvictionRequested: true }, 'node-c': 'healthy' } } },
      },
      { isAttended: true },
    )
    const kept = instanceManager('node-c').budget
    const guards = { pods, budgets: [web, osdBudget('zone-y'), kept], storage: [recorded], holds, longhorn }
    const rook = { namespace: 'rook-ceph', name: 'rook-ceph' }
    const seenUpdate: SeenUpdate = {
      cluster: { apiVersion: 'ceph.rook.io/v1', kind: 'CephCluster', metadata: rook },
      mode: 'own',
      isNamed: true,
      report: undefined,
      osds: [],
      growth: undefined,
      isAttended: true,
    }
    const data = [
      explainNode({ ...guards, node: silentNode, now }),
      explainPod({ ...guards, pod: pod('web-1') }),
      explainBudget({ ...guards, budget: web }),
      explainRequest(request, holds),
      explainCephCluster(guards, { seen: seenUpdate, osdPods: pods.slice(1) }),
      explainOsd(guards, { osd: 2, object: '', osdPods: pods.slice(1), seen: seenUpdate }),
      summarizeCluster({ ...guards, nodes: [silentNode], events: [], now }),
    ]
    expect(fieldsOf(data).filter((field) => !named.has(field))).toEqual([])
  })

  it('has every flag of all commands and no other', () => {
    const flags = program.options.map(({ flags }) => flags)
    expect(flagsOn('Flags of every command')).toEqual([...flags, '-h, --help'].sort())
  })
})

function fieldsOf(value: unknown): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap(fieldsOf))]
  if (typeof value !== 'object' || value === null) return []
  return [...new Set(Object.entries(value).flatMap(([field, inner]) => [field, ...fieldsOf(inner)]))]
}
