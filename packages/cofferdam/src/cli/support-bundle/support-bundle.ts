import { writeFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { ifAllowed } from '@cofferdam/kubernetes/client/if-allowed.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import { type Clock, timestamp } from '@cofferdam/kubernetes/runtime/clock.ts'
import { operatorAccount } from '../../deploy/operator-manifests.ts'
import { capabilities, shownOf } from '../../operator/capabilities.ts'
import type { CliCommand } from '../command.ts'
import type { ClusterLink, Connect } from '../connect.ts'
import { type DoctorQuestion, observeDoctor } from '../doctor/doctor-observe.ts'
import { explainChecks } from '../doctor/explain-checks.ts'
import { observeStatus } from '../status/status-observe.ts'
import { bundledKinds } from './bundled-kinds.ts'
import { buildTar, type TarFile } from './tar.ts'
import { withoutSecrets } from './without-secrets.ts'

interface BundleFlags {
  readonly out?: string
  readonly leaseNamespace: string
}

export interface Bundle {
  /** Where it is. */
  readonly file: string
  readonly bytes: number
  readonly contents: readonly string[]
  readonly notSeen: readonly string[]
}

export function createSupportBundleCommand(ports: {
  readonly connect: Connect
  readonly clock: Clock
}): CliCommand<BundleFlags, Bundle> {
  return {
    name: 'support-bundle',
    summary: 'write what others need to help into one file, without secrets',
    description:
      'Writes a tar.gz with the objects of Cofferdam, nodes, budgets, facts about pods, events, leases, the objects of Rook and Longhorn, versions, status and doctor. Secrets and ConfigMaps are never read; environments, commands, annotations that are not known to be harmless and fields whose names speak of secrets are left out. Names, addresses and messages of Events are in it: read it before you share it. Changes nothing in the cluster.',
    examples: [
      { line: 'cofferdam support-bundle', says: 'into the current directory' },
      { line: 'cofferdam support-bundle --out /tmp/bundle.tar.gz', says: 'into this file' },
    ],

    configure(command) {
      command
        .option('--out <file>', 'the file to write; it must not exist. cofferdam-support-TIME.tar.gz by default')
        .option('--lease-namespace <name>', 'where the leader lease is', operatorAccount.namespace)
    },

    async run({ flags, signal }) {
      const link = await ports.connect(flags)
      try {
        const { clock } = ports
        const question = { clock, leaseNamespace: flags.leaseNamespace, signal }
        const { files, notSeen } = await collect(link, question)
        const file = flags.out ?? `cofferdam-support-${timestamp(clock).replaceAll(/[-:]|\.\d+/g, '')}.tar.gz`
        const archive = gzipSync(buildTar(files, clock.now()))
        await write(file, archive)
        return { file, bytes: archive.length, contents: files.map(({ name }) => name), notSeen }
      } finally {
        await link.close()
      }
    },

    render({ file, bytes, contents, notSeen }, paint) {
      return [
        `${paint('bold', file)}  ${Math.ceil(bytes / 1024)} KiB, ${contents.length} files`,
        'Secrets are left out; names, addresses and messages of Events are in it. Read it before you share it.',
        ...notSeen.map((what) => `${paint('yellow', 'not seen:')} ${what}`),
      ].join('\n')
    },
  }
}

async function collect(
  link: ClusterLink,
  question: DoctorQuestion,
): Promise<{ readonly files: readonly TarFile[]; readonly notSeen: readonly string[] }> {
  const { api, server } = link
  const { signal } = question
  const notSeen: string[] = []
  const snapshot = await observeDoctor(link, question)
  const status = await observeStatus({ ...question, api, server, namespace: undefined, list: shownOf(capabilities) })
  const files = [
    fileOf('versions', { client: snapshot.client, cluster: snapshot.versions }),
    fileOf('doctor', explainChecks(snapshot)),
    fileOf('status', status),
  ]
  for (const type of bundledKinds) {
    const name = type.group === '' ? type.plural : `${type.plural}.${type.group}`
    const found = await ifAllowed(name, notSeen, () => api.list(type, { signal }))
    if (found !== undefined) files.push(fileOf(`objects/${name}`, found.items.map(withoutSecrets)))
  }
  files.push(fileOf('not-seen', [...new Set([...notSeen, ...status.notSeen])]))
  return { files, notSeen }
}

function fileOf(name: string, data: unknown): TarFile {
  return { name: `cofferdam-support/${name}.json`, content: `${JSON.stringify(data, null, 2)}\n` }
}

async function write(file: string, archive: Buffer): Promise<void> {
  try {
    await writeFile(file, archive, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    throw new CofferdamError('FILE_UNWRITABLE', `${file} cannot be written: ${(error as Error).message}`, {
      facts: { file },
      hint: 'name another file with --out',
      cause: error,
    })
  }
}
