import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { valueName } from '@cofferdam/product/deploy/chart/chart-values.ts'
import { operatorAccount } from '@cofferdam/product/deploy/operator-manifests.ts'
import { switchedCapabilities } from '@cofferdam/product/operator/controller-names.ts'
import { dump, loadAll } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { done, type HelmLab, openHelmLab } from './control-plane/open-helm-lab.ts'
import { runKubectl } from './control-plane/run-kubectl.ts'
import { startDaemon } from './processes/daemon.ts'
import { freePorts } from './processes/free-port.ts'
import { startProgram } from './processes/run-program.ts'

const chart = 'deploy/helm/cofferdam'
const release = ['cofferdam', chart, '--namespace', operatorAccount.namespace] as const

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly annotations?: object }
  readonly spec?: object
}

let lab: HelmLab
beforeAll(async () => {
  lab = await openHelmLab('helm')
})
afterAll(() => lab?.close())

const helm = (...args: readonly string[]) => lab.helm(...args)
const kubectl = (...args: readonly string[]) => lab.kubectl(...args)
const mayCreateBudgets = (namespace: string) => lab.mayCreateBudgets(namespace)

const set = (...values: readonly string[]) => values.flatMap((value) => ['--set', value])
const rendered = async (...values: readonly string[]) => {
  const text = await done(helm('template', ...release, '--kube-version', lab.kubernetes, ...set(...values)))
  // A template whose condition does not hold leaves an empty document.
  return (loadAll(text) as (Manifest | null)[]).filter((manifest) => manifest !== null)
}

/** By kind, namespace and name. What makes helm keep an object is for helm alone. */
function byName(manifests: readonly Manifest[]): Record<string, Manifest> {
  return Object.fromEntries(
    manifests.map((manifest) => {
      const { name, namespace = '', annotations, ...rest } = manifest.metadata
      const { 'helm.sh/resource-policy': _, ...others } = { ...annotations } as Record<string, string>
      const kept = Object.keys(others).length === 0 ? {} : { annotations: others }
      const metadata = { name, ...(namespace === '' ? {} : { namespace }), ...rest, ...kept }
      return [`${manifest.kind} ${namespace}/${name}`, { ...manifest, metadata }]
    }),
  )
}

async function plain(path: string): Promise<Record<string, Manifest>> {
  return byName(loadAll(await kubectl('kustomize', path)) as Manifest[])
}

describe('the chart and the plain manifests are one installation', () => {
  it('helm finds nothing wrong with it', async () => {
    const said = await done(helm('lint', chart, '--strict', '--namespace', operatorAccount.namespace))
    expect(said).toContain('0 chart(s) failed')
  })

  it('with default values it is what `kubectl apply -k deploy` installs, but for the namespace that helm makes', async () => {
    const { [`Namespace /${operatorAccount.namespace}`]: made, ...others } = await plain('deploy')
    expect(byName(await rendered())).toEqual(others)
    expect(byName(await rendered('namespace.create=true'))).toEqual({
      ...others,
      [`Namespace /${operatorAccount.namespace}`]: made,
    })
  })

  const same: Readonly<Record<string, readonly [path: string, ...values: string[]]>> = {
    'with Ceph, owned and growing, it is what the labs install': [
      'test/lab/install/ceph',
      'ceph.clusters={rook-ceph/rook-ceph}',
      'ceph.ownOsds={rook-ceph/rook-ceph}',
      'ceph.growOsds={rook-ceph/rook-ceph}',
      'ceph.rookImage=docker.io/rook/ceph:v1.18.8',
    ],
    'beside Rook it is what the labs with Rook install': [
      'test/lab/install/beside-rook',
      'ceph.clusters={rook-ceph/rook-ceph}',
      'ceph.pace=true',
    ],
    'with everything switched on it is all parts together': [
      'test/lab/install/everything',
      'ceph.clusters={rook-ceph/rook-ceph}',
      'ceph.toolbox=true',
      'ceph.ownOsds={rook-ceph/rook-ceph}',
      'ceph.pace=true',
      'ceph.growOsds={rook-ceph/rook-ceph}',
      'ceph.rookImage=docker.io/rook/ceph:v1.18.8',
      'longhorn.enabled=true',
      'medik8s.enabled=true',
      'kured.enabled=true',
      'admissionPolicies.enabled=true',
      'guard.networkPolicy.enabled=true',
      'guard.networkPolicy.controlPlane={192.0.2.0/24}',
      'dashboard.enabled=true',
      'dashboard.service.enabled=true',
      'metrics.serviceMonitor.enabled=true',
      'metrics.rules.enabled=true',
      'metrics.grafanaDashboard.enabled=true',
    ],
    'with Longhorn it is what the labs with Longhorn install': ['test/lab/install/longhorn', 'longhorn.enabled=true'],
  }
  it.each(Object.entries(same))('%s', async (_, [path, ...values]) => {
    expect(byName(await rendered('namespace.create=true', ...values))).toEqual(await plain(path))
  })

  it('with ceph.conf.secret the operator asks the monitors itself: with the image that can, as the user of the keyring, which is read-only', async () => {
    const manifests = await rendered(
      'ceph.clusters={rook-ceph/rook-ceph}',
      'ceph.conf.secret=ceph-access',
      'ceph.conf.user=client.guard',
    )
    const { spec } = manifests.find(({ kind }) => kind === 'Deployment') as unknown as OperatorDeployment
    const { containers, volumes } = spec.template.spec
    expect(containers[0]).toMatchObject({
      image: expect.stringMatching(/^cofferdam:.+-ceph$/),
      args: expect.arrayContaining([
        '--ceph-conf=/etc/cofferdam/ceph/ceph.conf',
        '--ceph-keyring=/etc/cofferdam/ceph/keyring',
        '--ceph-name=client.guard',
      ]),
      volumeMounts: [{ name: 'ceph', mountPath: '/etc/cofferdam/ceph', readOnly: true }],
    })
    expect(volumes).toEqual([{ name: 'ceph', secret: { secretName: 'ceph-access' } }])
    const mayRunPrograms = manifests.filter((manifest) => JSON.stringify(manifest).includes('pods/exec'))
    expect(mayRunPrograms).toEqual([])
  })

  it('refuses what would leave storage without what it needs, with the value named', async () => {
    const refused = async (...values: readonly string[]) =>
      (await helm('template', ...release, '--kube-version', lab.kubernetes, ...set(...values))).stderr
    expect(await refused('ceph.cluster={rook-ceph/rook-ceph}')).toMatch(/additional propert/i)
    expect(await refused('ceph.clusters={rook-ceph}')).toMatch(/ceph[./]clusters/)
    expect(await refused('ceph.ownOsds={a/b}')).toContain('a/b is not among ceph.clusters')
    expect(await refused('ceph.conf.secret=ceph-access')).toContain('ceph.conf.secret is for one of ceph.clusters')
    expect(await refused('ceph.clusters={a/b,c/d}', 'ceph.conf.secret=s')).toContain('there is another number of them')
    expect(await refused('guard.networkPolicy.enabled=true')).toContain('guard.networkPolicy.controlPlane')
    const elsewhere = await helm(
      'template',
      'cofferdam',
      chart,
      '--kube-version',
      lab.kubernetes,
      '--namespace',
      'default',
    )
    expect(elsewhere.stderr).toContain('--namespace cofferdam-system')
  })
})

interface OperatorDeployment {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly { readonly args: string[] }[]
        readonly volumes?: readonly object[]
      }
    }
  }
}

/** Starts the program of this checkout as the pod of a Deployment would, as its account. */
async function startOperatorOf({ spec }: OperatorDeployment) {
  const [health = 0, guard = 0] = await freePorts(2)
  const given = spec.template.spec.containers[0]?.args ?? []
  const kubeconfig = await lab.plane.kubeconfigOf(operatorAccount)
  const moved = ['--kubeconfig', kubeconfig, '--health-port', String(health), '--guard-port', String(guard)]
  const logFile = join(lab.folder.logs, `operator-${health}.log`)
  const command = [process.execPath, 'bin/cofferdam.js', ...given, ...moved] as const
  const daemon = startDaemon({ name: 'operator', command, logFile, journal: lab.journal })
  const isReady = () =>
    fetch(`http://127.0.0.1:${health}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  return { daemon, isReady }
}

const fieldOfNext = 'pausedUntil'

/** The chart of a version to come, whose requests have one field more. */
function nextChart(): string {
  const next = join(lab.folder.path, 'next-chart')
  cpSync(chart, next, { recursive: true })
  const file = join(next, 'templates/crds.yaml')
  const text = readFileSync(file, 'utf8')
  const known = /^( +)phaseSince:$/m.exec(text)
  if (known === null) throw new Error('the definition of requests has no phaseSince any more')
  const [line, indent = ''] = known
  writeFileSync(file, text.replace(line, `${indent}${fieldOfNext}:\n${indent}  type: string\n${line}`))
  return next
}

describe('on a real API server', () => {
  beforeAll(async () => {
    for (const name of ['longhorn-system', 'medik8s-leases', 'rook-ceph', 'shop'])
      await lab.plane.api.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  })

  it('it is installed, and the operator has no right over storage that was not named', async () => {
    await done(helm('install', ...release, '--create-namespace'))
    expect(await kubectl('get', 'crds', '-o', 'name')).toContain('nodedisruptions.cofferdam.io')
    expect(await mayCreateBudgets('rook-ceph')).toBe('no')
  })

  it('an upgrade in the middle of a drain, and its rollback, leave the request and the ledger as they are', async () => {
    const middle = {
      nodedisruption: { phase: 'Draining', epoch: 4, nodeUid: 'u-1' },
      disruptionledger: {
        nextEpoch: 5,
        nextTicket: 2,
        entries: [
          {
            key: 'node/node-a',
            uid: 'u-1',
            scope: '',
            holder: 'operator-1 for nodedisruption/cluster',
            requestId: 'r-1',
            epoch: 4,
            state: 'Acting',
            since: '2026-01-01T00:00:00Z',
            renewSequence: 7,
          },
        ],
      },
    }
    const apiVersion = 'cofferdam.io/v1alpha1'
    const metadata = { name: 'cluster' }
    for (const object of [
      { apiVersion, kind: 'NodeDisruption', metadata, spec: { nodeName: 'node-a' } },
      { apiVersion, kind: 'DisruptionLedger', metadata },
    ]) {
      const file = join(lab.folder.path, `${object.kind}.json`)
      writeFileSync(file, JSON.stringify(object))
      await kubectl('create', '-f', file)
    }
    for (const [kind, status] of Object.entries(middle)) {
      const patch = ['--type=merge', '-p', JSON.stringify({ status })] as const
      await kubectl('patch', kind, 'cluster', '--subresource=status', ...patch)
    }
    const onRecord = async () =>
      JSON.parse(await kubectl('get', 'nodedisruption,disruptionledger', '-o', 'json')) as {
        readonly items: readonly Manifest[]
      }
    const before = (await onRecord()).items
    expect(before.map(({ kind }) => kind).sort()).toEqual(['DisruptionLedger', 'NodeDisruption'])

    await done(helm('upgrade', 'cofferdam', nextChart(), '--namespace', operatorAccount.namespace))
    const definition = ['get', 'crd', 'nodedisruptions.cofferdam.io', '-o', 'json'] as const
    expect(await kubectl(...definition)).toContain(fieldOfNext)
    expect((await onRecord()).items).toEqual(before)

    await done(helm('rollback', 'cofferdam', '1', '--namespace', operatorAccount.namespace))
    expect(await kubectl(...definition)).not.toContain(fieldOfNext)
    expect((await onRecord()).items).toEqual(before)
    await kubectl('delete', 'nodedisruption,disruptionledger', '--all')
  })

  it('an upgrade grants the named cluster alone, and leaves the guard the webhooks that the operator has registered', async () => {
    const webhooks = [
      {
        name: 'eviction-guard.cofferdam.io',
        clientConfig: { url: 'https://127.0.0.1:1/' },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy: 'Ignore',
      },
    ]
    const guard = ['validatingwebhookconfiguration', 'cofferdam-eviction-guard'] as const
    await kubectl('patch', ...guard, '--type=merge', '-p', JSON.stringify({ webhooks }))
    await done(
      helm(
        'upgrade',
        ...release,
        ...set('ceph.clusters={rook-ceph/rook-ceph}', 'replicas=3', 'admissionPolicies.enabled=true'),
      ),
    )
    expect(await mayCreateBudgets('rook-ceph')).toBe('yes')
    expect(await mayCreateBudgets('shop')).toBe('no')
    expect(await kubectl('get', ...guard, '-o', 'jsonpath={.webhooks[*].name}')).toBe('eviction-guard.cofferdam.io')
    const deployment = ['-n', operatorAccount.namespace, 'get', 'deployment', operatorAccount.name, '-o'] as const
    expect(await kubectl(...deployment, 'jsonpath={.spec.replicas}')).toBe('3')
  })

  it('a capability that is switched off loses its rights', async () => {
    await done(
      helm(
        'upgrade',
        ...release,
        ...set('ceph.clusters={rook-ceph/rook-ceph}', 'capabilities.cephDrain=false', 'capabilities.osdUpdate=false'),
      ),
    )
    expect(await mayCreateBudgets('rook-ceph')).toBe('no')
  })

  it.each(switchedCapabilities.map(({ name }) => name))(
    'the operator becomes ready without %s: no other capability leans on its rights',
    async (name) => {
      const off = `capabilities.${valueName(name)}=false`
      const parts = ['longhorn.enabled=true', 'medik8s.enabled=true', 'kured.enabled=true', 'ceph.pace=true']
      const values = set('ceph.clusters={rook-ceph/rook-ceph}', ...parts, off)
      const said = await done(helm('upgrade', ...release, '-o', 'json', ...values))
      const { manifest } = JSON.parse(said) as { readonly manifest: string }
      const deployment = (loadAll(manifest) as (Manifest | null)[]).find((each) => each?.kind === 'Deployment')
      const operator = await startOperatorOf(deployment as unknown as Parameters<typeof startOperatorOf>[0])
      try {
        await expect.poll(operator.isReady, { timeout: 30_000, interval: 200 }).toBe(true)
      } finally {
        await operator.daemon.stop()
      }
      expect(readFileSync(operator.daemon.logFile, 'utf8')).not.toMatch(/forbidden|Forbidden/)
    },
  )

  it('people with `view` see requests, and none of Kubernetes’ own roles may make one', async () => {
    for (const role of ['view', 'edit', 'cofferdam-edit'])
      await kubectl('create', 'clusterrolebinding', `lab-${role}`, `--clusterrole=${role}`, `--user=${role}`)
    const may = async (verb: string, user: string) =>
      (
        await runKubectl(lab.plane, ['auth', 'can-i', verb, 'nodedisruptions.cofferdam.io', `--as=${user}`])
      ).stdout.trim()
    // Roles are aggregated a moment after they were written.
    await expect.poll(() => may('list', 'view'), { timeout: 30_000 }).toBe('yes')
    expect(await may('create', 'edit')).toBe('no')
    expect(await may('create', 'cofferdam-edit')).toBe('yes')
  })

  it('what is uninstalled leaves requests and the ledger in place: their kinds stay', async () => {
    await done(helm('uninstall', 'cofferdam', '--namespace', operatorAccount.namespace))
    expect(await kubectl('get', 'crds', '-o', 'name')).toContain('nodedisruptions.cofferdam.io')
    const left = (await kubectl('get', 'clusterroles,clusterrolebindings', '-o', 'name')).split('\n')
    expect(left.filter((name) => name.includes('/cofferdam'))).toEqual([])
  })
})

it('promtool understands the alert rules, of the chart and of the plain manifests alike', async () => {
  const [rules] = (await rendered('metrics.rules.enabled=true')).filter(({ kind }) => kind === 'PrometheusRule')
  const [same] = (loadAll(readFileSync('deploy/monitoring/rights/rights.yaml', 'utf8')) as Manifest[]).filter(
    ({ kind }) => kind === 'PrometheusRule',
  )
  expect(rules).toEqual(same)
  const file = join(lab.folder.path, 'rules.yaml')
  writeFileSync(file, dump(rules?.spec))
  const said = await done(startProgram([lab.parts.promtool, 'check', 'rules', file]).ended)
  expect(said).toMatch(/SUCCESS: \d+ rules found/)
})
