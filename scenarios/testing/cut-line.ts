import type { ObjectMeta } from '@cofferdam/kubernetes/api/kube-object.ts'
import type { ObjectKey, ResourceType } from '@cofferdam/kubernetes/api/resource-type.ts'
import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'

/** A moment of a process that is about to write: nothing of it arrives, it is carried out and never heard of, or it is heard of. */
export type CrashMoment = 'before' | 'unheard' | 'heard'

export interface CutLine {
  readonly isCut: boolean
  /** `patch nodes node-1`: every write that was tried until now, in order. */
  readonly written: readonly string[]
  /** So many more writes get through, then nothing does, in either direction. */
  cutAfter(writes: number): void
  /** The process dies at this write, counted from 1 and from its start; nothing gets through from that moment on. */
  cutAt(write: number, moment: CrashMoment): void
  /** Nothing gets through until it is mended. */
  cut(): void
  mend(): void
  api(api: KubeApi): KubeApi
  commands(commands: CephCommands): CephCommands
}

/** The line between a process and the world; cut, the process is as good as killed at that very call. */
export function openLine(onWrite: () => void = () => {}): CutLine {
  let isCut = false
  let writesLeft = Number.POSITIVE_INFINITY
  let end: { readonly write: number; readonly moment: CrashMoment } | undefined
  const written: string[] = []
  const read = <T>(call: () => Promise<T>, lost: () => Error): Promise<T> => (isCut ? Promise.reject(lost()) : call())
  const write = <T>(what: string, call: () => Promise<T>, lost: () => Error): Promise<T> => {
    if (isCut) return Promise.reject(lost())
    written.push(what)
    onWrite()
    const moment = end?.write === written.length ? end.moment : undefined
    if (writesLeft <= 0 || moment === 'before') isCut = true
    else writesLeft -= 1
    return moment === 'unheard' || moment === 'heard' ? writeLast(call, lost, moment) : read(call, lost)
  }
  const writeLast = async <T>(call: () => Promise<T>, lost: () => Error, moment: CrashMoment): Promise<T> => {
    try {
      const answer = await call()
      if (moment === 'unheard') throw lost()
      return answer
    } finally {
      isCut = true
    }
  }
  return {
    written,
    get isCut() {
      return isCut
    },
    cutAt(number, moment) {
      end = { write: number, moment }
    },
    cutAfter(writes) {
      writesLeft = writes
    },
    cut() {
      isCut = true
    },
    mend() {
      isCut = false
      writesLeft = Number.POSITIVE_INFINITY
      end = undefined
    },
    api: (api) => ({
      get: (...args) => read(() => api.get(...args), apiLost),
      list: (...args) => read(() => api.list(...args), apiLost),
      async *watch(type, query) {
        for await (const event of api.watch(type, query)) {
          if (isCut) throw apiLost()
          yield event
        }
      },
      create: (...args) => write(`create ${textOf(args[0], args[1].metadata)}`, () => api.create(...args), apiLost),
      createSubresource: (...args) =>
        write(`create ${textOf(args[0], args[1])} ${args[2]}`, () => api.createSubresource(...args), apiLost),
      update: (...args) =>
        write(
          `update ${textOf(args[0], args[1].metadata)} ${args[2]?.subresource ?? ''}`,
          () => api.update(...args),
          apiLost,
        ),
      patch: (...args) =>
        write(`patch ${textOf(args[0], args[1])} ${args[3]?.subresource ?? ''}`, () => api.patch(...args), apiLost),
      delete: (...args) => write(`delete ${textOf(args[0], args[1])}`, () => api.delete(...args), apiLost),
      deleteCollection: (...args) =>
        write(`delete all ${args[0].plural}`, () => api.deleteCollection(...args), apiLost),
    }),
    commands: (commands) => ({
      run: (command, options) =>
        /^osd (un)?set-group$/.test(command.prefix)
          ? write(`ceph ${command.prefix}`, () => commands.run(command, options), cephLost)
          : read(() => commands.run(command, options), cephLost),
      followLog: (follow) =>
        read(
          () =>
            commands.followLog?.({
              ...follow,
              onLine: (line) => {
                if (!isCut) follow.onLine(line)
              },
            }) ?? Promise.reject(cephLost()),
          cephLost,
        ),
    }),
  }
}

function textOf({ plural }: Pick<ResourceType, 'plural'>, { namespace, name }: ObjectMeta | ObjectKey): string {
  return namespace === undefined ? `${plural} ${name}` : `${plural} ${namespace}/${name}`
}

function apiLost(): Error {
  return new CofferdamError('API_UNREACHABLE', 'the line is cut')
}

function cephLost(): Error {
  return new CofferdamError('CEPH_UNREACHABLE', 'the line is cut')
}
