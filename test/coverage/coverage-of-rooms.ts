import { roomOf } from '../mutants/rooms.ts'

/** One file as Istanbul writes it, of which only this is read. */
export interface FileCoverage {
  readonly path: string
  readonly s: Readonly<Record<string, number>>
  readonly b: Readonly<Record<string, readonly number[]>>
  readonly statementMap: Readonly<Record<string, { readonly start: { readonly line: number } }>>
  readonly branchMap: Readonly<
    Record<
      string,
      { readonly type: string; readonly locations: readonly { readonly start: { readonly line?: number } }[] }
    >
  >
}

export interface RoomCoverage {
  readonly room: string
  /** A room whose files only judge. */
  readonly judges: boolean
  readonly lines: Share
  readonly branches: Share
}

export interface Share {
  readonly reached: number
  readonly of: number
}

/** Adds up two runs over the same sources. */
export function addRuns(one: readonly FileCoverage[], other: readonly FileCoverage[]): FileCoverage[] {
  const others = new Map(other.map((file) => [file.path, file]))
  return one.map((file) => {
    const more = others.get(file.path)
    if (more === undefined) return file
    const s = Object.fromEntries(Object.entries(file.s).map(([id, hits]) => [id, hits + (more.s[id] ?? 0)]))
    const b = Object.fromEntries(
      Object.entries(file.b).map(([id, hits]) => [id, hits.map((count, at) => count + (more.b[id]?.[at] ?? 0))]),
    )
    return { ...file, s, b }
  })
}

/** One row for each room, those that judge first. */
export function coverageOfRooms(files: readonly FileCoverage[]): RoomCoverage[] {
  const groups = new Map<string, FileCoverage[]>()
  for (const file of files) groups.set(nameOf(file.path), [...(groups.get(nameOf(file.path)) ?? []), file])
  return [...groups]
    .map(([room, own]) => ({
      room,
      judges: own.some(isJudging),
      lines: sum(own.map(linesOf)),
      branches: sum(own.map(branchesOf)),
    }))
    .sort((one, other) => Number(other.judges) - Number(one.judges) || one.room.localeCompare(other.room))
}

export function isJudging({ path }: FileCoverage): boolean {
  return roomOf(path) !== undefined
}

export function isProduct({ path }: FileCoverage): boolean {
  return path.startsWith('packages/cofferdam/')
}

/** `file:line kind` of each branch that no test takes. */
export function missedBranches(file: FileCoverage): string[] {
  return Object.entries(file.b).flatMap(([id, hits]) =>
    hits.flatMap((count, at) => {
      const branch = file.branchMap[id]
      const line = branch?.locations[at]?.start.line ?? branch?.locations[0]?.start.line
      return count > 0 ? [] : [`${file.path}:${line} ${branch?.type}`]
    }),
  )
}

export function sum(shares: readonly Share[]): Share {
  return shares.reduce((one, other) => ({ reached: one.reached + other.reached, of: one.of + other.of }), {
    reached: 0,
    of: 0,
  })
}

export function branchesOf({ b }: FileCoverage): Share {
  const hits = Object.values(b).flat()
  return { reached: hits.filter((count) => count > 0).length, of: hits.length }
}

export function linesOf({ s, statementMap }: FileCoverage): Share {
  const lines = new Map<number, number>()
  for (const [id, { start }] of Object.entries(statementMap)) {
    lines.set(start.line, Math.max(lines.get(start.line) ?? 0, s[id] ?? 0))
  }
  return { reached: [...lines.values()].filter((count) => count > 0).length, of: lines.size }
}

/** `capabilities/ceph-drain/domain`, `safety`, `cli`; other workspaces by their name and first folder. */
function nameOf(path: string): string {
  const inside = path.replace(/^packages\/cofferdam\/src\//, '').replace(/^packages\/([a-z]+)\/src\//, '$1: ')
  const folders = inside.split('/').slice(0, -1)
  const judging =
    roomOf(path) === undefined
      ? undefined
      : folders.slice(0, Math.max(1, folders.findIndex((name) => name === 'domain' || name === 'rules') + 1))
  return (judging ?? folders.slice(0, folders[0] === 'capabilities' ? 2 : 1)).join('/') || inside
}
