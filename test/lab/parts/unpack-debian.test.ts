import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)
const script = fileURLToPath(new URL('./unpack-debian.sh', import.meta.url))

interface Case {
  readonly files: Readonly<Record<string, string>>
  readonly mirror: string
}

const cases: Readonly<Record<string, Case>> = {
  'a file of paragraphs gives its archive, and not the security one that stands first': {
    files: {
      'sources.list.d/debian.sources': `
Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security

Types: deb
# http://comment.example/debian
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
`,
    },
    mirror: 'http://mirror.example/debian',
  },
  'a paragraph that is switched off, or only gives sources, is passed over': {
    files: {
      'sources.list.d/debian.sources': `Enabled: no
Types: deb
URIs: http://off.example/debian

Types: deb-src
URIs: http://sources.example/debian

Types: deb deb-src
URIs: http://on.example/debian/
`,
    },
    mirror: 'http://on.example/debian/',
  },
  'addresses may go on in the next line, and the first that is a Debian archive is taken': {
    files: {
      'sources.list.d/debian.sources': 'Types: deb\nURIs: http://mirror.example/other\n http://second.example/debian\n',
    },
    mirror: 'http://second.example/debian',
  },
  'the last paragraph of one file does not run into the first of the next': {
    files: {
      'sources.list.d/a.sources': 'Types: deb\nURIs: http://mirror.example/debian\nSuites: stable',
      'sources.list.d/b.sources': 'Enabled: no\nTypes: deb\nURIs: http://off.example/debian\n',
    },
    mirror: 'http://mirror.example/debian',
  },
  'a file of lines gives the address after the options in brackets': {
    files: {
      'sources.list': `# deb http://comment.example/debian stable main
deb-src http://sources.example/debian stable main
deb [arch=amd64 signed-by=/usr/share/keyrings/k.gpg] http://mirror.example/debian stable main
`,
    },
    mirror: 'http://mirror.example/debian',
  },
  'a list of mirrors, as cloud images have it, is handed on to apt': {
    files: { 'sources.list.d/debian.sources': 'Types: deb\nURIs: mirror+file:///etc/apt/mirrors/debian.list\n' },
    mirror: 'mirror+file:///etc/apt/mirrors/debian.list',
  },
  'foreign archives alone give no mirror': {
    files: { 'sources.list.d/other.list': 'deb http://mirror.example/ubuntu noble main\n' },
    mirror: '',
  },
  'a system without apt gives no mirror': { files: {}, mirror: '' },
}

describe('the mirror that packages of other suites come from', () => {
  it.each(Object.entries(cases))('%s', async (_, { files, mirror }) => {
    const folder = await mkdtemp(join(tmpdir(), 'apt-'))
    try {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(folder, name)), { recursive: true })
        await writeFile(join(folder, name), text)
      }
      const { stdout } = await run('bash', [script, '--mirror', folder])
      expect(stdout.trim()).toBe(mirror)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('a call without packages is refused with how to call it, and makes no folder', async () => {
    await expect(run('bash', [script, 'sid', join(tmpdir(), 'never')])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('SUITE FOLDER PACKAGE') as string,
    })
  })
})
