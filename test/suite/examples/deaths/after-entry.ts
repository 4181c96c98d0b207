/** Watches the journal of a process from within. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** Calls the function after an entry with this text is written. */
export function afterEntry(text: string, act: () => unknown): void {
  const append = fs.appendFileSync
  fs.appendFileSync = (...args: Parameters<typeof append>) => {
    append(...args)
    if (String(args[1]).includes(text)) act()
  }
  syncBuiltinESMExports()
}
