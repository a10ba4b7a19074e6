import { readFile } from 'node:fs/promises'
import type { Material } from '@cofferdam/kubernetes/client/cluster-connection.ts'
import { loadKubeconfig } from '@cofferdam/kubernetes/client/load-kubeconfig.ts'
import type { Side } from './side.ts'
import { createWireClient } from './wire-client.ts'

export interface RealSideOptions {
  /** Path of the kubeconfig of an administrator. */
  readonly kubeconfig: string
  readonly controllerManager: { signal(signal: NodeJS.Signals): void }
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
  return {
    name: 'real',
    ...client,
    async pauseBudgets() {
      pauses += 1
      if (pauses === 1) controllerManager.signal('SIGSTOP')
    },
    async resumeBudgets() {
      pauses -= 1
      if (pauses === 0) controllerManager.signal('SIGCONT')
    },
  }
}

function textOf(material: Material): Promise<string> | string {
  return 'text' in material ? material.text : readFile(material.path, 'utf8')
}
