/** Codes and refresh tokens: 256 random bits that only their holder knows; the store has their hash. */
import { hash, randomBytes } from 'node:crypto'

/** 43 characters of base64url. */
export const newOpaqueToken = (prefix = ''): string => prefix + randomBytes(32).toString('base64url')

export const hashOpaqueToken = (token: string): string => hash('sha256', token, 'base64url')
