/** Runs the programs that packages are made with. */
import { spawnSync } from 'node:child_process'
import { root } from './bundle.ts'

/** What the command printed. Throws with its words when it fails. */
export function run(command: string, ...words: readonly string[]): string {
  const { status, error, stdout, stderr } = spawnSync(command, words, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`)
  return stdout.trim()
}
