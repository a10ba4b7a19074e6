import {
  medik8sLeaseNamespace,
  nodeHealthChecks,
  openshiftHealthChecks,
} from '@cofferdam/kubernetes/api/kinds/machines.ts'
import type { KubeObject } from '@cofferdam/kubernetes/api/kube-object.ts'
import { apiVersionOf } from '@cofferdam/kubernetes/api/resource-type.ts'
import { leases, namespaces } from '@cofferdam/kubernetes/api/resources.ts'
import { createModernHealthChecks } from '@cofferdam/simulator/world/machines/modern-health-checks.ts'
import { createNodeHealthCheck } from '@cofferdam/simulator/world/machines/node-health-check.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { pauseRequest } from '../domain/marks.ts'
import { type FencingFixture, type FencingFixtureOptions, openFencingFixture } from '../testing/fencing-fixture.ts'

let fixture: FencingFixture
afterEach(() => fixture.close())

async function openCalm(options?: FencingFixtureOptions): Promise<FencingFixture> {
  fixture = await openFencingFixture(options)
  fixture.operate()
  await fixture.seconds(30)
  return fixture
}

/** Two sick nodes with OSDs that run: node-x may go first, node-y has to wait. */
async function sickenTwo(): Promise<void> {
  fixture.world.kubelet.setReady('node-x', false)
  await fixture.seconds(5)
  fixture.world.kubelet.setReady('node-y', false)
  await fixture.seconds(30)
}

async function recover(): Promise<void> {
  fixture.world.kubelet.setReady('node-x', true)
  fixture.world.kubelet.setReady('node-y', true)
  await fixture.seconds(30)
}

async function heldLeases(): Promise<string[]> {
  const { items } = await fixture.api.list(leases, { namespace: medik8sLeaseNamespace })
  return items.map(({ metadata, spec }) => `${metadata.name} ${spec?.holderIdentity}`)
}

const nodeHealthCheck = {
  apiVersion: apiVersionOf(nodeHealthChecks),
  kind: nodeHealthChecks.kind,
  metadata: { name: 'all' },
  spec: { selector: {}, minHealthy: 1 },
}

describe('medik8s', () => {
  it('is kept off the sick storage node whose turn has not come by its Lease, and only off that one', async () => {
    await openCalm()
    await fixture.api.create<KubeObject>(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: medik8sLeaseNamespace },
    })
    await fixture.api.create(nodeHealthChecks, nodeHealthCheck)
    await sickenTwo()
    expect(await heldLeases()).toEqual(['node-node-y cofferdam'])
    await recover()
    expect(await heldLeases()).toEqual([])
  })

  it('is asked to pause where it keeps no Leases, with an entry of ours beside those of others', async () => {
    await openCalm()
    await fixture.api.create(nodeHealthChecks, {
      ...nodeHealthCheck,
      spec: { ...nodeHealthCheck.spec, pauseRequests: ['upgrade of the week'] },
    })
    const check = createNodeHealthCheck(fixture.remediator)
    await fixture.seconds(5)
    const before = await fixture.toldAbout('all')
    await sickenTwo()
    await fixture.seconds(180)
    const paused = await fixture.api.get(nodeHealthChecks, { name: 'all' })
    expect(paused.spec?.pauseRequests).toEqual(['upgrade of the week', pauseRequest])
    expect(await fixture.toldAbout('all')).toEqual(before)
    await recover()
    const resumed = await fixture.api.get(nodeHealthChecks, { name: 'all' })
    expect(resumed.spec?.pauseRequests).toEqual(['upgrade of the week'])
    check.stop()
  })

  it('is told of once when it does not say within two minutes that it waits', async () => {
    fixture = await openFencingFixture()
    const made = await fixture.api.create(nodeHealthChecks, nodeHealthCheck)
    const status = { phase: 'Enabled', observedNodes: 3, healthyNodes: 3 } as const
    await fixture.api.update(nodeHealthChecks, { ...made, status }, { subresource: 'status' })
    fixture.operate()
    await fixture.seconds(30)
    await sickenTwo()
    await fixture.seconds(60)
    expect(await fixture.toldAbout('all')).toEqual([])
    await fixture.seconds(300)
    expect(await fixture.toldAbout('all')).toEqual(['Warning ObjectsUnusable'])
  })
})

describe.each(['v1beta1', 'v1beta2'])('Cluster API in %s', (version) => {
  it('leaves the machine alone whose turn has not come, and only that one', async () => {
    await openCalm({
      machines: { api: 'cluster-api', version },
      without: ['machine.openshift.io'],
      clusterApi: [version],
    })
    await fixture.patchCluster({ spec: { disruptionManagement: { machineDisruptionBudgetNamespace: 'default' } } })
    await fixture.seconds(5)
    expect(await fixture.labelled()).toEqual(['workers-1', 'workers-2', 'workers-3'])
    await sickenTwo()
    const skips = async () =>
      Promise.all(
        ['workers-1', 'workers-2', 'workers-3'].map(
          async (name) => (await fixture.machine(name)).metadata.annotations?.['cluster.x-k8s.io/skip-remediation'],
        ),
      )
    expect(await skips()).toEqual([undefined, 'cofferdam', undefined])
    await recover()
    expect(await skips()).toEqual([undefined, undefined, undefined])
  })
})

describe('OpenShift', () => {
  it("'s health check waits while Ceph cannot spare any of its sick machines, and goes on as it was when it can", async () => {
    await openCalm()
    const { namespace } = fixture.machines.kinds
    await fixture.api.create(openshiftHealthChecks, {
      apiVersion: apiVersionOf(openshiftHealthChecks),
      kind: openshiftHealthChecks.kind,
      metadata: { name: 'workers', namespace },
      spec: { selector: {}, maxUnhealthy: '40%' },
    })
    const check = createModernHealthChecks(fixture.remediator)
    fixture.ceph.controls.silence(true)
    await fixture.seconds(60)
    fixture.world.kubelet.setReady('node-x', false)
    await fixture.seconds(400)
    const seen = await fixture.api.get(openshiftHealthChecks, { namespace, name: 'workers' })
    expect(seen.metadata.annotations).toMatchObject({ 'cluster.x-k8s.io/paused': 'cofferdam' })
    expect(seen.spec?.maxUnhealthy).toBe('40%')
    expect(check.controls.remediated()).toEqual([])
    fixture.world.kubelet.setReady('node-x', true)
    fixture.ceph.controls.silence(false)
    await fixture.seconds(60)
    const after = await fixture.api.get(openshiftHealthChecks, { namespace, name: 'workers' })
    expect(after.metadata.annotations ?? {}).toEqual({})
    check.stop()
  })
})
