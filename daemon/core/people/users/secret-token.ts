/** Secrets of full entropy that are shown once and kept as hashes: in cookies and links. */
import { hash, randomBytes } from 'node:crypto'

export const newSecret = (): string => randomBytes(32).toString('base64url')
export const secretPattern = /^[A-Za-z0-9_-]{43}$/

/** What is kept: SHA-256 in hexadecimal. */
export const hashSecret = (secret: string): string => hash('sha256', secret)
