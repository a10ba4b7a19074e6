import type { KubeApi } from '@cofferdam/kubernetes/client/kube-api.ts'
import { CofferdamError } from '@cofferdam/kubernetes/errors.ts'
import type { CephCommands } from '@cofferdam/product/ceph/ceph-commands.ts'

export interface CutLine {
  readonly isCut: boolean
  /** So many more writes get through, then nothing does, in either direction. */
  cutAfter(writes: number): void
  /** Nothing gets through until it is mended. */
  cut(): void
  mend(): void
  api(api: KubeApi): KubeApi
  commands(commands: CephCommands): CephCommands
}

/** The line between a process and the world; cut, the process is as good as killed at that very call. */
export function openLine(): CutLine {
  let isCut = false
  let writesLeft = Number.POSITIVE_INFINITY
  const read = <T>(call: () => Promise<T>, lost: () => Error): Promise<T> => (isCut ? Promise.reject(lost()) : call())
  const write = <T>(call: () => Promise<T>, lost: () => Error): Promise<T> => {
    if (writesLeft <= 0) isCut = true
    else writesLeft -= 1
    return read(call, lost)
  }
  return {
    get isCut() {
      return isCut
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
      create: (...args) => write(() => api.create(...args), apiLost),
      createSubresource: (...args) => write(() => api.createSubresource(...args), apiLost),
      update: (...args) => write(() => api.update(...args), apiLost),
      patch: (...args) => write(() => api.patch(...args), apiLost),
      delete: (...args) => write(() => api.delete(...args), apiLost),
      deleteCollection: (...args) => write(() => api.deleteCollection(...args), apiLost),
    }),
    commands: (commands) => ({
      run: (command, options) =>
        (/^osd (un)?set-group$/.test(command.prefix) ? write : read)(() => commands.run(command, options), cephLost),
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

function apiLost(): Error {
  return new CofferdamError('API_UNREACHABLE', 'the line is cut')
}

function cephLost(): Error {
  return new CofferdamError('CEPH_UNREACHABLE', 'the line is cut')
}
