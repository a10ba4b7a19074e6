import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cacheFolder } from './cache-folder.ts'
import { locate } from './find-kubernetes.ts'

describe('where programs of Kubernetes are taken from', () => {
  let folder: string
  let assets: string
  let cache: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'locate-'))
    assets = join(folder, 'assets')
    cache = join(folder, 'cache')
    await mkdir(assets)
    await mkdir(cache)
  })
  afterEach(() => rm(folder, { recursive: true }))

  const place = (path: string, mode = 0o755) => writeFile(path, '#!/bin/sh\n', { mode })
  const found = async (...folders: (string | undefined)[]) =>
    Object.fromEntries(await locate(['etcd', 'kube-apiserver'], folders))

  it('a program that the user provides goes before the one that was built, and the others are still found', async () => {
    await place(join(assets, 'etcd'))
    await place(join(cache, 'etcd'))
    await place(join(cache, 'kube-apiserver'))
    expect(await found(assets, cache)).toEqual({
      etcd: join(assets, 'etcd'),
      'kube-apiserver': join(cache, 'kube-apiserver'),
    })
  })

  it('a file that cannot be run is no program, so the built one is taken', async () => {
    await place(join(assets, 'etcd'), 0o644)
    await place(join(cache, 'etcd'))
    expect(await found(assets, cache)).toEqual({ etcd: join(cache, 'etcd') })
  })

  it('a folder of that name is no program', async () => {
    await mkdir(join(assets, 'etcd'))
    expect(await found(assets, cache)).toEqual({})
  })

  it('a setting that is empty or names no folder leaves the built programs', async () => {
    await place(join(cache, 'etcd'))
    expect(await found('', undefined, join(folder, 'nowhere'), cache)).toEqual({ etcd: join(cache, 'etcd') })
  })

  it('a relative folder gives absolute paths, since daemons run in folders of their own', async () => {
    await place(join(cache, 'etcd'))
    expect(await found(relative(process.cwd(), cache))).toEqual({ etcd: join(cache, 'etcd') })
  })

  it('the cache follows XDG_CACHE_HOME, and an empty one is as good as none', () => {
    const name = `cofferdam/lab/parts-${process.arch}`
    expect(cacheFolder('parts', { XDG_CACHE_HOME: '/elsewhere' })).toBe(`/elsewhere/${name}`)
    expect(cacheFolder('parts', { XDG_CACHE_HOME: '' })).toMatch(new RegExp(`/\\.cache/${name}$`))
  })
})
