/** Codes and refresh tokens: 256 random bits. The store contains only their hash. */
import { hash, randomBytes } from 'node:crypto'

/** Returns 43 characters of base64url after the prefix. */
export const newOpaqueToken = (prefix = ''): string => prefix + randomBytes(32).toString('base64url')

export const hashOpaqueToken = (token: string): string => hash('sha256', token, 'base64url')
