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
import { type FencingStage, type FencingStageOptions, openFencingStage } from '../testing/fencing-stage.ts'

let stage: FencingStage
afterEach(() => stage.close())

async function openCalm(options?: FencingStageOptions): Promise<FencingStage> {
  stage = await openFencingStage(options)
  stage.operate()
  await stage.seconds(30)
  return stage
}

/** Two sick nodes with OSDs that run: node-x may go first, node-y has to wait. */
async function sickenTwo(): Promise<void> {
  stage.world.kubelet.setReady('node-x', false)
  await stage.seconds(5)
  stage.world.kubelet.setReady('node-y', false)
  await stage.seconds(30)
}

async function recover(): Promise<void> {
  stage.world.kubelet.setReady('node-x', true)
  stage.world.kubelet.setReady('node-y', true)
  await stage.seconds(30)
}

async function heldLeases(): Promise<string[]> {
  const { items } = await stage.api.list(leases, { namespace: medik8sLeaseNamespace })
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
    await stage.api.create<KubeObject>(namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: medik8sLeaseNamespace },
    })
    await stage.api.create(nodeHealthChecks, nodeHealthCheck)
    await sickenTwo()
    expect(await heldLeases()).toEqual(['node-node-y cofferdam'])
    await recover()
    expect(await heldLeases()).toEqual([])
  })

  it('is asked to pause where it keeps no Leases, with an entry of ours beside those of others', async () => {
    await openCalm()
    await stage.api.create(nodeHealthChecks, {
      ...nodeHealthCheck,
      spec: { ...nodeHealthCheck.spec, pauseRequests: ['upgrade of the week'] },
    })
    const check = createNodeHealthCheck(stage.remediator)
    await stage.seconds(5)
    const before = await stage.toldAbout('all')
    await sickenTwo()
    await stage.seconds(180)
    const paused = await stage.api.get(nodeHealthChecks, { name: 'all' })
    expect(paused.spec?.pauseRequests).toEqual(['upgrade of the week', 'cofferdam: storage cannot spare a node now'])
    expect(await stage.toldAbout('all')).toEqual(before)
    await recover()
    const resumed = await stage.api.get(nodeHealthChecks, { name: 'all' })
    expect(resumed.spec?.pauseRequests).toEqual(['upgrade of the week'])
    check.stop()
  })

  it('is told of once when it does not say within two minutes that it waits', async () => {
    stage = await openFencingStage()
    const made = await stage.api.create(nodeHealthChecks, nodeHealthCheck)
    const status = { phase: 'Enabled', observedNodes: 3, healthyNodes: 3 } as const
    await stage.api.update(nodeHealthChecks, { ...made, status }, { subresource: 'status' })
    stage.operate()
    await stage.seconds(30)
    await sickenTwo()
    await stage.seconds(60)
    expect(await stage.toldAbout('all')).toEqual([])
    await stage.seconds(300)
    expect(await stage.toldAbout('all')).toEqual(['Warning ObjectsUnusable'])
  })
})

describe.each(['v1beta1', 'v1beta2'])('Cluster API in %s', (version) => {
  it('leaves the machine alone whose turn has not come, and only that one', async () => {
    await openCalm({
      machines: { api: 'cluster-api', version },
      without: ['machine.openshift.io'],
      clusterApi: [version],
    })
    await stage.patchCluster({ spec: { disruptionManagement: { machineDisruptionBudgetNamespace: 'default' } } })
    await stage.seconds(5)
    expect(await stage.labelled()).toEqual(['workers-1', 'workers-2', 'workers-3'])
    await sickenTwo()
    const skips = async () =>
      Promise.all(
        ['workers-1', 'workers-2', 'workers-3'].map(
          async (name) => (await stage.machine(name)).metadata.annotations?.['cluster.x-k8s.io/skip-remediation'],
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
    const { namespace } = stage.machines.kinds
    await stage.api.create(openshiftHealthChecks, {
      apiVersion: apiVersionOf(openshiftHealthChecks),
      kind: openshiftHealthChecks.kind,
      metadata: { name: 'workers', namespace },
      spec: { selector: {}, maxUnhealthy: '40%' },
    })
    const check = createModernHealthChecks(stage.remediator)
    stage.ceph.controls.silence(true)
    await stage.seconds(60)
    stage.world.kubelet.setReady('node-x', false)
    await stage.seconds(400)
    const seen = await stage.api.get(openshiftHealthChecks, { namespace, name: 'workers' })
    expect(seen.metadata.annotations).toMatchObject({ 'cluster.x-k8s.io/paused': 'cofferdam' })
    expect(seen.spec?.maxUnhealthy).toBe('40%')
    expect(check.controls.remediated()).toEqual([])
    stage.world.kubelet.setReady('node-x', true)
    stage.ceph.controls.silence(false)
    await stage.seconds(60)
    const after = await stage.api.get(openshiftHealthChecks, { namespace, name: 'workers' })
    expect(after.metadata.annotations ?? {}).toEqual({})
    check.stop()
  })
})
