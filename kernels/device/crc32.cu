// CRC-32 (IEEE 802.3, reflected, as in zlib and gzip) of data[0..len], any length.
//
// *crc ^= CRC-32 of the data. The caller zeroes *crc first; blocks add their shares with
// atomic exclusive or, so the result does not depend on their order.
//
// A CRC without its two inversions is the message as a polynomial over GF(2), times
// x^32, modulo P; so the CRC of a concatenation is CRC(head) * x^(8 * bytes behind it)
// + CRC(tail), and zero bytes in front change nothing. Hence the split:
//   unit    16 aligned bytes, four 32-bit words. The first and the last unit of the
//           message are filled with zeros at its edges; the zeros behind the message are
//           taken back at the end by a multiplication with x^-8 each.
//   row     256 neighbouring units, one for each thread of a block.
//   block   the same number of consecutive rows for every block, counted from the end
//           of the message, so that only units in front of it are missing.
// Thread t reads unit t of each row of its block, which coalesces, and keeps one
// remainder for each of the four words: remainder = remainder * x^(bits in a row) + word.
// That product is four look-ups in tables that the block makes for itself (slice by 4
// with the distance of a row in place of a word). A tree over the threads joins the
// remainders, and the block's share is moved to its place by one power of x.
//
// A remainder is a u32 with the coefficient of x^(31-i) in bit i: a word in memory order
// is already in this form, and x^0 is 0x80000000.
//
// Launch:  exactly 256 threads a block (x), any grid (x); no dynamic shared memory. More
//          blocks than rows are harmless and idle.
// Memory:  data is len bytes of any alignment, read in whole aligned units except at the
//          edges, never outside of data[0..len]. crc is one u32, 4-byte aligned.
#include "prelude.cuh"

#define THREADS 256
#define POLYNOMIAL 0xEDB88320u
#define ONE 0x80000000u

// x^(2^n) for n in 0..32. x^(2^32) is x again, because x^(2^32 - 1) is one.
__constant__ u32 cupola_crc32_powers[32] = {
    0x40000000, 0x20000000, 0x08000000, 0x00800000, 0x00008000, 0xEDB88320, 0xB1E6B092, 0xA06A2517,
    0xED627DAE, 0x88D14467, 0xD7BBFE6A, 0xEC447F11, 0x8E7EA170, 0x6427800E, 0x4D47BAE0, 0x09FE548F,
    0x83852D0F, 0x30362F1A, 0x7B5A9CC3, 0x31FEC169, 0x9FEC022A, 0x6C8DEDC4, 0x15D6874D, 0x5FDE7A4E,
    0xBAD90E37, 0x2E4E5EEF, 0x4EABA214, 0xA8A472C0, 0x429A969E, 0x148D302A, 0xC40BA6D0, 0xC4E22C3C,
};

static __device__ __forceinline__ u32 times_x(u32 a) {
    return (a >> 1) ^ (POLYNOMIAL & (0u - (a & 1)));
}

static __device__ __forceinline__ u32 times_x_n(u32 a, u32 n) {
#pragma unroll 1
    for (; n != 0; n--) {
        a = times_x(a);
    }
    return a;
}

static __device__ __forceinline__ u32 product(u32 a, u32 b) {
    u32 sum = 0;
#pragma unroll 1
    for (; a != 0; a <<= 1) {
        sum ^= b & (0u - (a >> 31));
        b = times_x(b);
    }
    return sum;
}

static __device__ __forceinline__ u32 power_of_x(u64 n) {
    u32 power = ONE;
#pragma unroll 1
    for (u32 i = 0; n != 0; i = (i + 1) & 31, n >>= 1) {
        if (n & 1) {
            power = product(cupola_crc32_powers[i], power);
        }
    }
    return power;
}

// Four tables of 256: byte k of a remainder, times x^(bits in a row).
static __device__ __forceinline__ void make_tables(u32* tables, u32* bits) {
    u32 t = threadIdx.x;
    if (t < 32) {
        // x^(bits in a row) for remainder bit t; a row has 256 * 128 = 2^15 bits.
        bits[t] = times_x_n(cupola_crc32_powers[15], 31 - t);
    }
    __syncthreads();
#pragma unroll 1
    for (u32 k = 0; k < 4; k++) {
        u32 entry = 0;
#pragma unroll
        for (u32 bit = 0; bit < 8; bit++) {
            entry ^= bits[8 * k + bit] & (0u - ((t >> bit) & 1));
        }
        tables[256 * k + t] = entry;
    }
    __syncthreads();
}

static __device__ __forceinline__ u32 times_row(const u32* tables, u32 a) {
    return tables[a & 255] ^ tables[256 + ((a >> 8) & 255)] ^ tables[512 + ((a >> 16) & 255)] ^
           tables[768 + (a >> 24)];
}

// Unit `index` of the message, whose first unit begins `lead` bytes before `data`, with
// zeros in place of the bytes outside of data[0..len].
static __device__ __forceinline__ uint4 edge_unit(const u8* data, u64 len, u64 lead, u64 index) {
    u32 words[4];
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        words[i] = 0;
#pragma unroll 1
        for (u32 byte = 0; byte < 4; byte++) {
            // In front of the message this wraps to a value beyond any length.
            u64 at = index * 16 + 4 * i + byte - lead;
            if (at < len) {
                words[i] |= (u32)data[at] << (8 * byte);
            }
        }
    }
    uint4 unit;
    unit.x = words[0];
    unit.y = words[1];
    unit.z = words[2];
    unit.w = words[3];
    return unit;
}

extern "C" __global__ void __launch_bounds__(THREADS)
cupola_crc32(const u8* data, u64 len, u32* crc) {
    __shared__ u32 tables[4 * 256];
    __shared__ u32 lanes[THREADS];
    u32 t = threadIdx.x;
    make_tables(tables, lanes);

    u64 lead = (u64)data & 15;
    u64 units = (lead + len + 15) / 16;
    u64 rows = (units + THREADS - 1) / THREADS;
    u64 rows_per_block = (rows + gridDim.x - 1) / gridDim.x;
    u64 units_per_block = rows_per_block * THREADS;
    u64 units_behind = (gridDim.x - 1 - blockIdx.x) * units_per_block;

    // This block's units end `units_behind` before the last one; thread t has those at
    // distance 255-t from the end of each row.
    u32 a0 = 0, a1 = 0, a2 = 0, a3 = 0;
    u64 behind = units_behind + units_per_block + (THREADS - 1 - t);
#pragma unroll 1
    for (u64 row = 0; row < rows_per_block; row++) {
        behind -= THREADS;
        if (behind >= units) {
            continue; // in front of the message
        }
        u64 index = units - 1 - behind;
        uint4 unit;
        if (index * 16 < lead || index * 16 + 16 > lead + len) {
            unit = edge_unit(data, len, lead, index);
        } else {
            unit = *(const uint4*)(data + (index * 16 - lead));
        }
        a0 = times_row(tables, a0) ^ unit.x;
        a1 = times_row(tables, a1) ^ unit.y;
        a2 = times_row(tables, a2) ^ unit.z;
        a3 = times_row(tables, a3) ^ unit.w;
    }
    u32 share = times_x_n(a0, 32) ^ a1;
    share = times_x_n(share, 32) ^ a2;
    share = times_x_n(share, 32) ^ a3;

    // Lane t * 2^(level+1) takes in its right neighbour, 2^level units further on.
    lanes[t] = share;
    __syncthreads();
#pragma unroll 1
    for (u32 level = 0; level < 8; level++) {
        u32 left = t << (level + 1);
        if (left < THREADS) {
            u32 right = left + (1u << level);
            lanes[left] = product(cupola_crc32_powers[7 + level], lanes[left]) ^ lanes[right];
        }
        __syncthreads();
    }

    if (t == 0) {
        // To its place: the units behind, the 32 bits that make a remainder a CRC, and
        // back over the zeros behind the message (x^-1 is x^(2^32 - 2)).
        u64 zeros = units * 16 - lead - len;
        u64 shift = units_behind * 128 + 32 + (0xFFFFFFFFu - 8 * zeros);
        share = lanes[0];
        if (share != 0) {
            share = product(power_of_x(shift), share);
        }
        if (blockIdx.x == 0) {
            // The inversions before and after are the message's own: once a launch.
            share ^= product(power_of_x(8 * len), 0xFFFFFFFFu) ^ 0xFFFFFFFFu;
        }
        if (share != 0) {
            atomicXor(crc, share);
        }
    }
}
