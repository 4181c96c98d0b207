/** Follows a guide in an overlay of this system, where its files and commands do no harm. */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, '../../..')

/** Returns the block of a guide with this title or number, with replacements. */
export async function blockOf(guide: string, title: string, values: Readonly<Record<string, string>> = {}): Promise<string> {
  const text = await readFile(join(root, 'admin-api/docs/guides', `${guide}.md`), 'utf8')
  const [, code] = new RegExp(`^\`\`\`\\w+ title="${title}"\n([^]*?)^\`\`\`$`, 'm').exec(text) ?? []
  if (code === undefined) throw new Error(`${guide}.md has no block ${title}`)
  return Object.entries(values).reduce((before, [from, to]) => {
    if (!before.includes(from)) throw new Error(`the block ${title} of ${guide}.md has no ${from}`)
    return before.replaceAll(from, to)
  }, code)
}

/** Returns a command that writes a file with this text. */
export const fileWith = (path: string, text: string, mode = '644'): string => `cat >${path} <<'FILE'\n${text}FILE\nchmod ${mode} ${path}\n`

/** A script in the overlay. Disposal ends it and all processes that it started. */
export class GuideWalk implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #ended: Promise<number | null>
  #output = ''

  private constructor(child: ChildProcessByStdio<null, Readable, Readable>) {
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (this.#output += String(chunk)))
    this.#ended = new Promise((resolve) => child.once('close', resolve))
  }

  /** `folder` must be empty. */
  static async start(folder: string, script: string): Promise<GuideWalk> {
    for (const name of ['system', 'files']) await mkdir(join(folder, name))
    await writeFile(join(folder, 'files', 'walk'), script)
    const args = ['--mount', '--pid', '--fork', '--kill-child', 'sh', join(here, 'guide-walk.sh'), folder, root, process.execPath]
    const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('POSTERN_'))) // settings
    return new GuideWalk(spawn('unshare', args, { env, stdio: ['ignore', 'pipe', 'pipe'] }))
  }

  /** Current output of the script and its programs. */
  get output(): string {
    return this.#output
  }

  /** Resolves with the exit code of the script. */
  get ended(): Promise<number | null> {
    return this.#ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}
