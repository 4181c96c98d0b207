/** Why a command cannot go on, in one sentence that says what to do. */
import type { ExitCode } from './lifecycle.ts'

/** Something outside the program stops the start. It is shown without a stack, and the process ends with `exitCode`. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused'
  readonly exitCode: ExitCode

  constructor(message: string, exitCode: ExitCode, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.exitCode = exitCode
  }
}
