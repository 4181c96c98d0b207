/**
 * Loaded into s3rver before it starts: folders stay once they are there. s3rver makes a folder for a new object, then opens the file;
 * where another request removes the last object of that folder in between, it removes the folder too, and ends by an error that it
 * does not catch.
 */
import { createRequire } from 'node:module'

const files = createRequire(createRequire(import.meta.url).resolve('s3rver'))('fs-extra') as { rmdir(path: string): Promise<void> }
files.rmdir = () => Promise.resolve()
