import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Material } from '@cofferdam/kubernetes/client/cluster-connection.ts'
import { loadKubeconfig } from '@cofferdam/kubernetes/client/load-kubeconfig.ts'
import type { Daemon } from '../processes/daemon.ts'
import { standStill } from '../processes/stand-still.ts'
import type { Side } from './side.ts'
import { createWireClient } from './wire-client.ts'

export interface RealSideOptions {
  /** Path of the kubeconfig of an administrator. */
  readonly kubeconfig: string
  readonly controllerManager: Pick<Daemon, 'pid' | 'signal'>
}

/** A real API server beside a controller manager that runs nothing but the disruption controller. */
export async function openRealSide({ kubeconfig, controllerManager }: RealSideOptions): Promise<Side> {
  const connection = await loadKubeconfig({ path: kubeconfig, env: {} })
  const { authentication, certificateAuthority, clientCertificate } = connection
  const client = createWireClient({
    url: connection.server,
    ...(certificateAuthority === undefined ? {} : { ca: await textOf(certificateAuthority) }),
    ...(authentication.kind === 'token' && authentication.token !== undefined ? { token: authentication.token } : {}),
    ...(clientCertificate === undefined
      ? {}
      : { cert: await textOf(clientCertificate.certificate), key: await textOf(clientCertificate.key) }),
  })
  let pauses = 0
  let probes = 0
  return {
    name: 'real',
    ...client,
    async pauseBudgets() {
      pauses += 1
      if (pauses === 1) await standStill(controllerManager)
    },
    async resumeBudgets() {
      pauses -= 1
      if (pauses > 0) return
      controllerManager.signal('SIGCONT')
      // After a long pause its watches are gone, and it counts nothing until it has opened others.
      probes += 1
      await untilCounted(client, `probe-${probes}`, () => pauses > 0)
    },
  }
}

/** Makes a budget, and waits until the controller has counted for it. */
async function untilCounted(client: Pick<Side, 'send'>, name: string, isPaused: () => boolean): Promise<void> {
  const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
  const spec = { minAvailable: 1, selector: { matchLabels: { app: name } } }
  const body = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec }
  await client.send({ method: 'POST', path, body })
  for (let isCounted = false; !isCounted && !isPaused(); ) {
    await pause(50)
    const { body: budget } = await client.send({ method: 'GET', path: `${path}/${name}` })
    isCounted = JSON.stringify(budget).includes('"observedGeneration"')
  }
  await client.send({ method: 'DELETE', path: `${path}/${name}` })
}

function textOf(material: Material): Promise<string> | string {
  return 'text' in material ? material.text : readFile(material.path, 'utf8')
}
