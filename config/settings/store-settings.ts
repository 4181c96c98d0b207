/** Settings of the store: its location, and the minimum free disk space. */
import { optionalWritten, section, whole } from './fields.ts'
import { databaseAddress, objectsAddress } from './formats.ts'

const mebibyte = 1024 * 1024

export const store = section({
  address: optionalWritten(
    {
      description:
        'Database that stores all data instead of the data folder, which then contains only keys and certificates. Separate several servers by commas: Postern uses the server that accepts writes.',
      limit: 'the address of a PostgreSQL database such as postgresql://user@host/database',
      secret: true,
    },
    databaseAddress,
  ),
  objects: optionalWritten(
    {
      description:
        'Storage for large values of a store in a database, one object each: a bucket of Amazon S3 or of a compatible server, or a folder that all daemons share. By default, the database stores them as rows.',
      limit: 's3://bucket/prefix?endpoint=https://host&region=name, or file:///folder',
      secret: true,
    },
    objectsAddress,
  ),
  objectBytes: whole(
    'Values of at least this size become objects, in bytes. Content is stored in rows of 262,144 bytes: with the default, messages and files up to that size stay completely in the database, and the full rows of larger messages and files become objects.',
    4096,
    256 * 1024,
    256 * 1024,
  ),
  lowDiskBytes: whole(
    'Minimum free space of the data folder, in bytes. Below it, new mail and files are refused with 452 by SMTP (421 before a session) and 503 by REST.',
    0,
    2 ** 50,
    256 * mebibyte,
  ),
  ballastBytes: whole(
    'Size of a file in the data folder that is deleted to recover from a full disk, in bytes. 0: no file.',
    0,
    2 ** 40,
    64 * mebibyte,
  ),
})
