/** Sender of test messages of a destination. */
import { boot } from '../app/boot.ts'
import type { Destination } from '../wire/api.d.ts'

/** Returns the default From, else the address that signs in, else the address of the person. */
export function senderOf({ from, credentials }: Destination): string {
  const { username } = credentials as { readonly username?: string | null }
  return from ?? (username?.includes('@') ? username : boot.email)
}
