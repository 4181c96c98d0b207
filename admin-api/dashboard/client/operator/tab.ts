/** Props and actions shared by the tabs of an organization. */
import { ApiFault } from '../app/api.ts'
import { asFault } from '../app/query.ts'
import { toast } from '../parts/toast.tsx'
import type { OperatorAccount } from '../wire/api.d.ts'

export interface TabProps {
  readonly account: OperatorAccount
  readonly onChanged: () => void
}

/** Runs a change and confirms it with an undo button. Shows an error if the service rejects it. */
export async function change(
  work: () => Promise<unknown>,
  done: string,
  onChanged: () => void,
  undo?: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
    onChanged()
    toast(done, undo && (() => void undo().then(onChanged, say)))
  } catch (error) {
    say(error)
  }
}

const say = (error: unknown): void => toast(error instanceof ApiFault ? error.message : asFault(error).message)
