/** Secrets of full entropy in cookies and links. The service shows each secret once and stores its hash. */
import { hash, randomBytes } from 'node:crypto'

export const newSecret = (): string => randomBytes(32).toString('base64url')
export const secretPattern = /^[A-Za-z0-9_-]{43}$/

/** Returns the stored form: SHA-256 in hexadecimal. */
export const hashSecret = (secret: string): string => hash('sha256', secret)
