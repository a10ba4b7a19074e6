import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { configMaps, events } from '@cofferdam/kubernetes/api/resources.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Lab, openLab } from './lab.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab('rights')
  await lab.installOperator()
})
afterAll(() => lab?.close())

interface Role {
  readonly rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[]
}

/** Takes a verb on budgets away from a Role of the lab's namespace, as somebody does who trims rights; returns what puts it back. */
async function takeAway(role: string, verb: string): Promise<() => Promise<unknown>> {
  const { stdout } = await lab.kubectl('-n', lab.namespace, 'get', 'role', role, '-o', 'json')
  const { rules } = JSON.parse(stdout) as Role
  const write = (next: Role['rules']) =>
    lab.kubectl('-n', lab.namespace, 'patch', 'role', role, '--type=merge', '-p', JSON.stringify({ rules: next }))
  await write(
    rules.map((rule) =>
      rule.resources.includes('poddisruptionbudgets')
        ? { ...rule, verbs: rule.verbs.filter((held) => held !== verb) }
        : rule,
    ),
  )
  return () => write(rules)
}

async function eventNotes(reason: string): Promise<string[]> {
  const { items } = await lab.api.list(events, { namespace: lab.namespace })
  return items.filter((event) => event.reason === reason).map(({ message = '' }) => message)
}

it('an operator that may not change budgets says so on the CephCluster, and nothing more goes until it may', async () => {
  const { stdout } = await lab.kubectl('-n', lab.namespace, 'get', 'roles', '-o', 'name')
  const roles = stdout.split('\n').flatMap((line) => /\/(cofferdam:.*)$/.exec(line)?.[1] ?? [])
  const restore: (() => Promise<unknown>)[] = []
  for (const role of roles) restore.push(await takeAway(role, 'update'))
  const drain = lab.drain('node-a')
  await lab.until('the missing right is told', async () => (await eventNotes('RightsMissing')).length > 0)
  expect((await eventNotes('RightsMissing')).join()).toMatch(/cannot update resource "poddisruptionbudgets"/)
  await lab.seconds(10)
  expect(drain.isRunning()).toBe(true)
  expect(lab.osdsOn('node-a')).toHaveLength(1)

  lab.chapter('The rights are given back')
  for (const give of restore) await give()
  expect((await drain.ended).code).toBe(0)
  await lab.kubectl('uncordon', 'node-a')
  await lab.until('the default budget is back', () => lab.osdBudgets().join() === 'rook-ceph-osd', 90)
  expect(lab.oracle.violations).toEqual([])
})

/** What kubectl prints, whether it succeeds or not. */
const said = (...words: string[]) =>
  lab.kubectl(...words).then(
    ({ stdout }) => stdout,
    (error: Error) => error.message,
  )

it('the operator may list its Lease by that name, and nothing else: by the version of the list it knows a restored etcd', async () => {
  const { namespace, name } = operatorAccount
  const list = ['-n', namespace, 'get', 'leases', '-o', 'name', `--as=system:serviceaccount:${namespace}:${name}`]
  expect((await said(...list, `--field-selector=metadata.name=${name}`)).trim()).toMatch(new RegExp(`/${name}$`))
  for (const more of [[], ['--field-selector=metadata.name=other'], [`--field-selector=metadata.name!=other`]])
    expect(await said(...list, ...more)).toContain('is forbidden')
})

it('the admission policies of deploy/ are understood by a real API server, and refuse what they say', async () => {
  const applied = ['-k', join(import.meta.dirname, '../../deploy/admission-policies/rights')]
  await lab.kubectl('apply', ...applied)
  const verbs = ['--verb=create,get,patch', '--resource=nodedisruptions.cofferdam.io']
  await lab.kubectl('create', 'clusterrole', 'lab-requests', ...verbs)
  await lab.kubectl('create', 'clusterrole', 'lab-namespaces', '--verb=get,patch', '--resource=namespaces')
  for (const role of ['lab-requests', 'lab-namespaces'])
    await lab.kubectl('create', 'clusterrolebinding', role, `--clusterrole=${role}`, '--user=mallory')
  try {
    const folder = mkdtempSync(join(tmpdir(), 'lab-policies-'))
    const ask = async (requester: string, annotations: object = {}) => {
      const file = join(folder, 'request.json')
      const metadata = { name: 'lab-policies', annotations }
      const spec = { nodeName: 'no-such-node', requester }
      const request = { apiVersion: 'cofferdam.io/v1alpha1', kind: 'NodeDisruption', metadata, spec }
      writeFileSync(file, JSON.stringify(request))
      return said('create', '--dry-run=server', '--as=mallory', '-f', file)
    }
    // A policy counts a moment after it was written.
    await lab.until(
      'the policies are in force',
      async () => (await ask('alice')).includes('must be your user name'),
      60,
    )
    expect(await ask('mallory')).toContain('created')
    const glass = '{"by":"mallory","reason":"fire","until":"2099-01-01T00:00:00Z"}'
    expect(await ask('mallory', { 'cofferdam.io/break-glass': glass })).toContain('needs the verb break-glass')
    const label = ['label', 'namespace', lab.namespace, '--as=mallory', '--dry-run=server']
    expect(await said(...label, 'cofferdam.io/locked=true')).toContain('by the operator alone')
    expect(await said(...label, 'team=shop')).toContain('labeled')
    const { stdout } = await lab.kubectl('get', 'validatingadmissionpolicies', '-o', 'json')
    expect(stdout).not.toContain('expressionWarnings')
  } finally {
    await lab.kubectl('delete', ...applied)
    await lab.kubectl('delete', 'clusterrole,clusterrolebinding', 'lab-requests', 'lab-namespaces')
  }
})

/** Ceph looks at the rights of a user when it connects, and not again. */
async function connectAnew(): Promise<void> {
  await lab.kubectl('-n', 'cofferdam-system', 'rollout', 'restart', 'deployment/cofferdam-operator')
  await lab.kubectl('-n', 'cofferdam-system', 'rollout', 'status', 'deployment/cofferdam-operator')
}

it('a Ceph user that may not set noout is named as a problem, and the drain is as safe as ever', async () => {
  const user = { prefix: 'auth caps', entity: 'client.cofferdam' }
  await lab.ceph.commands.run({ ...user, caps: ['mon', 'allow r', 'mgr', 'allow r'] })
  await connectAnew()
  const drain = lab.drain('node-b')
  expect((await drain.ended).code).toBe(0)
  const problems = async () => {
    const { metadata } = await lab.api.get(configMaps, { namespace: lab.namespace, name: 'rook-ceph-pdbstatemap' })
    return metadata.annotations?.['cofferdam.io/problems'] ?? ''
  }
  await lab.until('the record names the bucket and the refusal', async () => /rack-y.*noout/.test(await problems()))
  expect(await lab.nooutBuckets()).toEqual([])
  expect(lab.osdBudgets()).toEqual(['rook-ceph-osd-rack-rack-x', 'rook-ceph-osd-rack-rack-z'])

  lab.chapter('The right is given back')
  const caps = ['mon', 'allow r, allow command "osd set-group", allow command "osd unset-group"', 'mgr', 'allow r']
  await lab.ceph.commands.run({ ...user, caps })
  await connectAnew()
  await lab.until('noout is set now', async () => (await lab.nooutBuckets()).join() === 'rack-y', 90)
  await lab.kubectl('uncordon', 'node-b')
  await lab.until('the default budget is back', () => lab.osdBudgets().join() === 'rook-ceph-osd', 90)
  expect(await lab.nooutBuckets()).toEqual([])
  expect(lab.oracle.violations).toEqual([])
})
