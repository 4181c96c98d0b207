/** Runs the programs for building packages. */
import { spawnSync } from 'node:child_process'
import { root } from './bundle.ts'

/** Returns the output of a command. Throws with its error output if it fails. */
export function run(command: string, ...args: readonly string[]): string {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`)
  return stdout.trim()
}
