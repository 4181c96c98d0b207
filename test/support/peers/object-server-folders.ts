/**
 * Loaded into s3rver before it starts: keeps folders once they exist. s3rver creates a folder for a new object, then opens the file. If
 * another request removes the last object of that folder in between, it removes the folder too, and s3rver ends with an uncaught error.
 */
import { createRequire } from 'node:module'

const files = createRequire(createRequire(import.meta.url).resolve('s3rver'))('fs-extra') as { rmdir(path: string): Promise<void> }
files.rmdir = () => Promise.resolve()
