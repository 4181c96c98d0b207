/** Settings of the store: its location, and the minimum free disk space. */
import { optionalWritten, section, whole } from './fields.ts'
import { databaseAddress, objectsAddress } from './formats.ts'

const mebibyte = 1024 * 1024

export const store = section({
  address: optionalWritten(
    {
      description:
        'Database that keeps everything in place of the data folder, which then holds keys and certificates only. Several servers of it are separated by commas: the one that takes writes is used.',
      limit: 'the address of a PostgreSQL database such as postgresql://user@host/database',
      secret: true,
    },
    databaseAddress,
  ),
  objects: optionalWritten(
    {
      description:
        'Where a store in a database keeps its large values, as one object each: a bucket of Amazon S3 or of a server that speaks its protocol, or a folder that all daemons share. Without it they are rows of the database.',
      limit: 's3://bucket/prefix?endpoint=https://host&region=name, or file:///folder',
      secret: true,
    },
    objectsAddress,
  ),
  objectBytes: whole(
    'Values of at least this size become objects, in bytes. Content is stored in rows of 262,144 bytes: with the default, messages and files up to that size stay in the database as a whole, and the full rows of larger ones become objects.',
    4096,
    256 * 1024,
    256 * 1024,
  ),
  lowDiskBytes: whole(
    'Free space of the data folder below which new mail and files are refused, with 452 by SMTP (421 before a session), and 503 by REST, in bytes.',
    0,
    2 ** 50,
    256 * mebibyte,
  ),
  ballastBytes: whole(
    'Size of a file in the data folder that is deleted to recover from a full disk, in bytes. 0: no such file.',
    0,
    2 ** 40,
    64 * mebibyte,
  ),
})
