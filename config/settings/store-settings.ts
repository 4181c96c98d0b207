/** Settings of the store: where records are kept, and how much of the disk is left alone. */
import { optionalWritten, section, whole } from './fields.ts'
import { databaseAddress } from './formats.ts'

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
  lowDiskBytes: whole(
    'Free space of the data folder below which new messages are refused, with 452 by SMTP and 503 by REST, in bytes.',
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
